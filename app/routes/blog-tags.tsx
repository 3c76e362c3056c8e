import type { ReactNode } from "react";
import { BlogPage } from "../blog/blog-frame.tsx";
import { articlesText, tagPath } from "../blog/posts.ts";
import { posts, tags } from "../facts/content.ts";
import { SiteLink } from "../shell/site-link.tsx";

export default function BlogTags(): ReactNode {
  return (
    <BlogPage title="Tags" description="Articles by subject." eyebrow="Blog">
      <ul className="tag-index rows">
        {tags.map(({ name, label, description }) => (
          <li key={name}>
            <SiteLink to={tagPath(name)}>{label}</SiteLink>
            <span className="figure fine">
              {articlesText(posts.filter((post) => post.tags.includes(name)).length)}
            </span>
            <p className="aside">{description}</p>
          </li>
        ))}
      </ul>
    </BlogPage>
  );
}
