// RSS and Atom feeds of the blog, with the whole text of each post.

import { Feed } from "feed";
import type { Element } from "hast";
import { toHtml } from "hast-util-to-html";
import { postPath } from "../blog/posts.ts";
import { authors, posts } from "../facts/content.ts";
import { siteConfig } from "../site-config.ts";
import { find, hasClass, type SitePage, without } from "./pages.ts";

/** Feeds by path. Addresses in a feed must be absolute: they begin with `origin`. */
export function feedsOf(pages: readonly SitePage[], origin: string): Record<string, string> {
  const { title, blog } = siteConfig;
  const feed = new Feed({
    title: `${title} ${blog.title}`,
    description: blog.description,
    id: origin + blog.path,
    link: origin + blog.path,
    language: siteConfig.i18n.defaultLocale,
    copyright: siteConfig.footer.copyright,
    updated: dateOf(posts[0]?.date ?? "1970-01-01"),
    generator: title,
    docs: "https://www.rssboard.org/rss-specification",
    feedLinks: { rss: `${origin}${blog.path}/rss.xml`, atom: `${origin}${blog.path}/atom.xml` },
  });
  for (const post of posts) {
    const address = origin + postPath(post);
    const page = pages.find(({ path }) => path === postPath(post));
    const prose = page === undefined ? null : find(page.main, (node) => hasClass(node, "prose"));
    const content = prose === null ? "" : toHtml(without(prose, isOfPage).children);
    feed.addItem({
      title: post.title,
      id: address,
      link: address,
      description: post.description,
      content: content
        .replaceAll(/(href|src)="\//g, `$1="${origin}/`)
        .replaceAll(/href="#/g, `href="${address}#`),
      date: dateOf(post.date),
      author: authors
        .filter(({ name }) => post.authors.includes(name))
        .map((author) => ({ name: author.title })),
      category: post.tags.map((name) => ({ name })),
    });
  }
  const texts = { rss: () => named(feed.rss2()), atom: () => feed.atom1() };
  return Object.fromEntries(blog.feeds.map((kind) => [`${blog.path}/${kind}.xml`, texts[kind]()]));
}

/** In RSS an author is an email address; a name without one is a creator. */
function named(rss: string): string {
  return rss.replaceAll(/<author>([^<]*)<\/author>/g, "<dc:creator>$1</dc:creator>");
}

/** Elements that work only on the page: buttons, and links of headings to themselves. */
function isOfPage(node: Element): boolean {
  return node.tagName === "button" || hasClass(node, "anchor");
}

function dateOf(date: string): Date {
  return new Date(`${date}T00:00:00Z`);
}
