// The site's only configuration. A reference to something missing fails the build
// (`config/lookup.ts`).
//
// Two addresses are known only to the publisher and are settings of the build:
//   SITE_URL         https://queue.example.org, without a trailing slash
//   SITE_REPOSITORY  https://github.com/owner/name
// Parts that need a missing address are omitted, and the build reports them.

import type { SiteConfig } from "./config/types.ts";

const url = addressFrom(import.meta.env, "SITE_URL", /^https?:\/\/[^/]+$/);
const repository = addressFrom(import.meta.env, "SITE_REPOSITORY", /^https?:\/\/.*[^/]$/);

/** `null` = not set. */
export function addressFrom(
  settings: Readonly<Record<string, unknown>>,
  name: "SITE_URL" | "SITE_REPOSITORY",
  form: RegExp,
): string | null {
  const value = settings[name] ?? "";
  if (value === "") return null;
  if (typeof value === "string" && form.test(value)) return value;
  throw new Error(`${name} is invalid; expected an address as ${form}, got '${value}'`);
}

export const siteConfig: SiteConfig = {
  title: "Holdfast",
  tagline: "A durable message queue whose 200 is a proof",
  description:
    "Holdfast is a durable, partitioned message queue with lease-based, almost exactly once delivery over plain HTTP.",
  titleDelimiter: "|",
  favicon: "/favicon.svg",
  url,
  baseUrl: "/",
  image: "/cards/home.png",
  repository,
  editUrl: repository === null ? null : `${repository}/edit/main`,
  i18n: {
    defaultLocale: "en",
    locales: { en: { label: "English", direction: "ltr", htmlLang: "en" } },
  },
  colorMode: { defaultMode: "dark", respectPrefersColorScheme: true },
  announcementBar: {
    id: "what-a-200-means",
    content: 'On the blog: <a href="/blog/long-blog-post">what a 200 means</a>.',
    isCloseable: true,
  },
  navbar: {
    title: "Holdfast",
    hideOnScroll: true,
    items: [
      { type: "docSidebar", sidebarId: "docs", label: "Docs", position: "left" },
      { label: "API", to: "/api", position: "left" },
      { label: "Blog", to: "/blog", position: "left" },
      // A site built for its own address has no server, and so no console.
      ...(url === null ? [{ label: "Console", to: "/console", position: "left" } as const] : []),
      { type: "search" },
      { type: "docsVersionDropdown" },
      { type: "localeDropdown" },
      // The specification requires this item, so a build without a repository includes it too.
      { label: "GitHub", href: repository ?? "https://github.com" },
      { label: "Get Started", to: "/docs/quick-start", className: "button" },
    ],
  },
  footer: {
    style: "dark",
    links: [
      {
        title: "Documentation",
        items: [
          { label: "Introduction", to: "/docs/intro" },
          { label: "Quick start", to: "/docs/quick-start" },
          { label: "Architecture", to: "/docs/architecture" },
          { label: "Configuration", to: "/docs/configuration" },
        ],
      },
      {
        title: "Reference",
        items: [
          { label: "HTTP API", to: "/api" },
          { label: "Engine as a library", to: "/docs/embedded" },
          { label: "Questions", to: "/docs/faq" },
        ],
      },
      {
        title: "Blog",
        items: [
          { label: "Articles", to: "/blog" },
          { label: "Archive", to: "/blog/archive" },
          { label: "RSS", to: "/blog/rss.xml" },
          { label: "Atom", to: "/blog/atom.xml" },
        ],
      },
      {
        title: "Project",
        items: [
          ...(repository === null ? [] : [{ label: "GitHub", href: repository }]),
          { label: "Glossary", to: "/docs/glossary" },
          { label: "Changelog", to: "/docs/changelog" },
          { label: "Pages as Markdown", to: "/markdown-page" },
          { label: "For language models", to: "/llms.txt" },
        ],
      },
    ],
    copyright: "Holdfast is free software under the Apache License 2.0.",
  },
  docs: {
    pluginId: "default",
    versions: [{ name: "current", label: "Next", path: "/docs", mainDoc: "intro" }],
    sidebars: {
      docs: [
        { label: "Start here", docs: ["intro", "quick-start"] },
        {
          label: "Guides",
          docs: [
            ...["background-jobs", "webhooks", "fan-out", "many-customers", "scheduled-work"],
            ...["batch-pipelines", "traces", "tests", "python-worker", "generated-clients"],
            "one-node-is-not-enough",
          ].map((guide) => `guides/${guide}`),
        },
        {
          label: "Call it",
          docs: [
            "client",
            "transact",
            "groups",
            "command-line",
            "command-reference",
            "find-and-redrive",
            "embedded",
          ],
        },
        {
          label: "Move to it",
          docs: ["sqs", "bullmq", "pg-boss", "celery", "querator"].map(
            (queue) => `moving-from-${queue}`,
          ),
        },
        {
          label: "Run it",
          docs: [
            "deployment",
            "deployment-files",
            "configuration",
            "operations",
            "console",
            "postgresql",
            "nodes",
          ],
        },
        { label: "Trust it", docs: ["architecture", "testing", "comparison", "status", "faq"] },
        { label: "Look it up", docs: ["glossary", "changelog"] },
        {
          label: "Errors",
          docs: [
            "errors",
            ...[200, 400, 401, 403, 404, 405, 413, 415, 429, 453, 454, 500, 503, 504].map(
              (code) => `errors/${code}`,
            ),
          ],
        },
      ],
    },
  },
  blog: {
    title: "Blog",
    description: "How Holdfast works, and why it works that way.",
    path: "/blog",
    showReadingTime: true,
    feeds: ["rss", "atom"],
  },
  analytics: null,
  tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
};

/** The omitted parts of a build, for each missing address. */
export function missingAddresses(told: Pick<SiteConfig, "url" | "repository">): readonly string[] {
  const lacks = {
    url: "SITE_URL: no canonical links, no cards; sitemap and robots.txt only from `bun start`",
    repository:
      "SITE_REPOSITORY: no edit links, first steps without a clone, and GitHub leads to its front page",
  };
  return (["url", "repository"] as const)
    .filter((name) => told[name] === null)
    .map((name) => lacks[name]);
}
