// All posts by year, for the sidebar and for the drawer.

import { posts } from "virtual:content";
import type { ReactNode } from "react";
import { SiteLink } from "../shell/site-link.tsx";
import { usePathname } from "../shell/use-pathname.ts";
import { postPath, postsByYear } from "./posts.ts";

export function BlogMenu(): ReactNode {
  const pathname = usePathname();
  return postsByYear(posts).map(([year, ofYear]) => (
    <section key={year} className="menu-group">
      <h2>{year}</h2>
      <ul className="menu">
        {ofYear.map((post) => (
          <li key={post.slug}>
            <SiteLink
              to={postPath(post)}
              {...(pathname === postPath(post) ? { "aria-current": "page" as const } : {})}
            >
              {post.title}
            </SiteLink>
          </li>
        ))}
      </ul>
    </section>
  ));
}
