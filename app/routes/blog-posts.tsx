// The posts of an author or of a tag, by the address.

import type { ReactNode } from "react";
import { BlogPage } from "../blog/blog-frame.tsx";
import { PostList } from "../blog/post-list.tsx";
import { authorArticlesPath, authorPath, tagPath } from "../blog/posts.ts";
import { authors, posts, tags } from "../facts/content.ts";
import { SiteLink } from "../shell/site-link.tsx";
import { usePathname } from "../shell/use-pathname.ts";

const latestMax = 3;

export default function BlogPosts(): ReactNode {
  const path = usePathname();
  const tag = tags.find(({ name }) => tagPath(name) === path);
  if (tag !== undefined) {
    const { name, label, description } = tag;
    return (
      <BlogPage title={label} description={description} eyebrow="Tag">
        <PostList posts={posts.filter((post) => post.tags.includes(name))} />
      </BlogPage>
    );
  }
  const author = authors.find(({ name }) =>
    [authorPath(name), authorArticlesPath(name)].includes(path),
  );
  if (author === undefined) throw new Error(`there is no page for '${path}'`);
  const { name, title, description } = author;
  const own = posts.filter((post) => post.authors.includes(name));
  const isAll = path === authorArticlesPath(name);
  return (
    <BlogPage
      title={isAll ? `Articles by ${title}` : title}
      description={isAll ? `Everything that ${title} wrote here.` : description}
      eyebrow="Author"
    >
      <PostList posts={isAll ? own : own.slice(0, latestMax)} />
      {!isAll && (
        <p>
          <SiteLink to={authorArticlesPath(name)}>All articles by {title}</SiteLink>
        </p>
      )}
    </BlogPage>
  );
}
