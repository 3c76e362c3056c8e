import type { ReactNode } from "react";
import { BlogPage } from "../blog/blog-frame.tsx";
import { PostList } from "../blog/post-list.tsx";
import { posts } from "../facts/content.ts";
import { SiteLink } from "../shell/site-link.tsx";
import { siteConfig } from "../site-config.ts";

const { title, description, path, feeds } = siteConfig.blog;

export default function BlogIndex(): ReactNode {
  return (
    <BlogPage title={title} description={description}>
      <ul className="cluster note">
        <li>
          <SiteLink to={`${path}/archive`}>Archive</SiteLink>
        </li>
        <li>
          <SiteLink to={`${path}/tags`}>Tags</SiteLink>
        </li>
        <li>
          <SiteLink to={`${path}/authors`}>Authors</SiteLink>
        </li>
        {feeds.map((feed) => (
          <li key={feed}>
            <SiteLink to={`${path}/${feed}.xml`}>{feed === "rss" ? "RSS" : "Atom"}</SiteLink>
          </li>
        ))}
      </ul>
      <PostList posts={posts} />
    </BlogPage>
  );
}
