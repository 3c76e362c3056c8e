import { posts, tags } from "virtual:content";
import type { ReactNode } from "react";
import { BlogPage } from "../blog/blog-frame.tsx";
import { articlesText, tagPath } from "../blog/posts.ts";
import { SiteLink } from "../shell/site-link.tsx";
import { siteConfig } from "../site-config.ts";

export default function BlogTags(): ReactNode {
  return (
    <BlogPage
      title="Tags"
      description="Articles by subject."
      path={`${siteConfig.blog.path}/tags`}
      eyebrow="Blog"
    >
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
