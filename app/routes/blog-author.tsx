import { authors, posts } from "virtual:content";
import type { ReactNode } from "react";
import { BlogFrame } from "../blog/blog-frame.tsx";
import { PageHead } from "../blog/page-head.tsx";
import { PostList } from "../blog/post-list.tsx";
import { authorArticlesPath, authorPath } from "../blog/posts.ts";
import { useNamed } from "../blog/use-named.ts";
import { SiteLink } from "../shell/site-link.tsx";

const latestMax = 3;

export default function BlogAuthor(): ReactNode {
  const { name, title, role, description } = useNamed(authors, /\/([^/]+)$/);
  const own = posts.filter((post) => post.authors.includes(name));
  return (
    <BlogFrame>
      <PageHead
        title={title}
        description={description === "" ? role : description}
        path={authorPath(name)}
        eyebrow="Author"
      />
      <PostList posts={own.slice(0, latestMax)} />
      <p>
        <SiteLink to={authorArticlesPath(name)}>All articles by {title}</SiteLink>
      </p>
    </BlogFrame>
  );
}
