import type { ReactNode } from "react";
import type { PostData } from "../build/content.ts";
import { authors, tags } from "../facts/content.ts";
import { SiteLink } from "../shell/site-link.tsx";
import { siteConfig } from "../site-config.ts";
import { authorPath, dateText, tagPath } from "./posts.ts";

/** Date and reading time. */
export function PostFacts({ post }: { readonly post: PostData }): ReactNode {
  return (
    <p className="post-facts cluster figure fine">
      <time dateTime={post.date}>{dateText(post.date)}</time>{" "}
      {siteConfig.blog.showReadingTime && <span>{post.readingMinutes} min read</span>}
    </p>
  );
}

export function PostAuthors({ post }: { readonly post: PostData }): ReactNode {
  return (
    <ul className="post-authors cluster note">
      {authors
        .filter(({ name }) => post.authors.includes(name))
        .map(({ name, title, role }) => (
          <li key={name}>
            <SiteLink to={authorPath(name)}>{title}</SiteLink> <span>{role}</span>
          </li>
        ))}
    </ul>
  );
}

export function PostTags({ post }: { readonly post: PostData }): ReactNode {
  return (
    <ul className="tag-list cluster" aria-label="Tags">
      {tags
        .filter(({ name }) => post.tags.includes(name))
        .map(({ name, label }) => (
          <li key={name}>
            <SiteLink to={tagPath(name)}>{label}</SiteLink>
          </li>
        ))}
    </ul>
  );
}
