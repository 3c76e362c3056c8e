// Addresses, dates and grouping of posts. Pure.

import type { PostData } from "../build/content.ts";
import { siteConfig } from "../site-config.ts";

const { path } = siteConfig.blog;

export function postPath({ slug }: Pick<PostData, "slug">): string {
  return `${path}/${slug}`;
}

export function tagPath(name: string): string {
  return `${path}/tags/${name}`;
}

export function authorPath(name: string): string {
  return `${path}/authors/${name}`;
}

export function authorArticlesPath(name: string): string {
  return `${path}/authors/all-${name}-articles`;
}

export function articlesText(count: number): string {
  return count === 1 ? "1 article" : `${count} articles`;
}

/** The format is created on use: every page loads this file, and few show a date. */
export function dateText(date: string): string {
  const day = new Date(`${date}T00:00:00Z`);
  return day.toLocaleDateString("en", { dateStyle: "long", timeZone: "UTC" });
}

/** Years in the order of the posts, newest first. */
export function postsByYear(posts: readonly PostData[]): readonly [string, readonly PostData[]][] {
  return [...Map.groupBy(posts, ({ date }) => date.slice(0, 4))];
}
