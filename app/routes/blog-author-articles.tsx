import { authors, posts } from "virtual:content";
import type { ReactNode } from "react";
import { BlogFrame } from "../blog/blog-frame.tsx";
import { PageHead } from "../blog/page-head.tsx";
import { PostList } from "../blog/post-list.tsx";
import { authorArticlesPath } from "../blog/posts.ts";
import { useNamed } from "../blog/use-named.ts";

export default function BlogAuthorArticles(): ReactNode {
  const { name, title } = useNamed(authors, /\/all-([^/]+)-articles$/);
  return (
    <BlogFrame>
      <PageHead
        title={`Articles by ${title}`}
        description={`Everything that ${title} wrote here.`}
        path={authorArticlesPath(name)}
        eyebrow="Author"
      />
      <PostList posts={posts.filter((post) => post.authors.includes(name))} />
    </BlogFrame>
  );
}
