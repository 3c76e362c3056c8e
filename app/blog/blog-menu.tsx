// All posts by year, for the sidebar and for the drawer.

import type { ReactNode } from "react";
import { posts } from "../facts/content.ts";
import { SectionMenu } from "../shell/section-menu.tsx";
import { usePathname } from "../shell/use-pathname.ts";
import { postPath, postsByYear } from "./posts.ts";

export function BlogMenu(): ReactNode {
  const groups = postsByYear(posts).map(([label, ofYear]) => ({
    label,
    links: ofYear.map((post) => ({ to: postPath(post), label: post.title })),
  }));
  return <SectionMenu groups={groups} current={usePathname()} />;
}
