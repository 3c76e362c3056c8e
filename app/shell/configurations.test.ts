// Renders parts of the shell in configurations that the site does not use.

import { describe, expect, test } from "bun:test";
import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import type { FooterConfig, NavbarItem } from "../config/types.ts";
import { AnnouncementBar } from "./announcement-bar.tsx";
import { Footer } from "./footer.tsx";
import { MainMenu } from "./menus.tsx";
import { BarItem } from "./navbar-item.tsx";

function rendered(node: ReactNode): string {
  const page = createElement(MemoryRouter, { initialEntries: ["/docs/faq"] }, node);
  return renderToStaticMarkup(page).replaceAll(/<svg.*?<\/svg>/g, "");
}

const more: NavbarItem = {
  type: "dropdown",
  label: "More",
  items: [
    { label: "Blog", to: "/blog" },
    { type: "doc", docId: "embedded" },
    { label: "Elsewhere", href: "https://example.com/" },
  ],
};
const questions: NavbarItem = {
  type: "dropdown",
  label: "Questions",
  to: "/docs/faq",
  className: "own",
  items: [{ type: "html", value: "<hr>", className: "line" }],
};

describe("bar", () => {
  test.each<readonly [string, NavbarItem, string]>([
    ["html as it is", { type: "html", value: "<b>raw</b>" }, "<li><b>raw</b></li>"],
    [
      "a doc by its name",
      { type: "doc", docId: "faq" },
      '<li><a href="/docs/faq" class="navbar-link" aria-current="true">Questions</a></li>',
    ],
    [
      "a doc by another",
      { type: "doc", docId: "intro", label: "Begin here" },
      '<li><a href="/docs/intro" class="navbar-link">Begin here</a></li>',
    ],
    [
      "a version, at the page that is shown",
      { type: "docsVersion" },
      '<li><a href="/docs/faq" class="navbar-link" aria-current="true" data-docs="docs.version.default" data-version="current">Next</a></li>',
    ],
    [
      "a sidebar, with its own class",
      { type: "docSidebar", sidebarId: "docs", className: "leaf" },
      '<li><a href="/docs/intro" class="leaf" aria-current="true">Introduction</a></li>',
    ],
    [
      "a list",
      more,
      '<li><details class="dropdown"><summary class="navbar-link">More</summary><ul class="dropdown-menu"><li><a href="/blog" class="navbar-link">Blog</a></li><li><a href="/docs/embedded" class="navbar-link">Embedded</a></li><li><a href="https://example.com/" rel="noopener" class="navbar-link">Elsewhere</a></li></ul></details></li>',
    ],
    [
      "a list that begins with its own page",
      questions,
      '<li><details class="dropdown"><summary class="own">Questions</summary><ul class="dropdown-menu"><li><a href="/docs/faq" class="navbar-link" aria-current="true">Questions</a></li><li class="line"><hr></li></ul></details></li>',
    ],
  ])("%s", (_, item, html) => {
    expect(rendered(createElement(BarItem, { item }))).toBe(html);
  });

  test.each<readonly [unknown, string]>([
    [
      { type: "carousel", label: "More" },
      "unknown navbar item type; expected default, dropdown, localeDropdown, search, html, doc, docSidebar, docsVersion, docsVersionDropdown, got 'carousel'",
    ],
    [
      { type: "dropdown", label: "More", items: [{ type: "tabs" }] },
      "unknown navbar item type; expected default",
    ],
    [
      { type: "docsVersion", version: "9.9" },
      "docs version does not exist; expected one of current, got '9.9'",
    ],
    [
      { type: "docsVersionDropdown", versions: ["current", "9.9"] },
      "docs version does not exist; expected one of current, got '9.9'",
    ],
    [
      { type: "docSidebar", sidebarId: "api" },
      "docs sidebar does not exist; expected one of docs, got 'api'",
    ],
    [{ type: "doc", docId: "nothing" }, "doc does not exist; got 'nothing'"],
  ])("%j is refused", (item, reason) => {
    expect(() => rendered(createElement(BarItem, { item: item as NavbarItem }))).toThrow(reason);
  });

  test("navbar: an item that fails is named with its configuration", () => {
    const broken = { label: "Broken" } as NavbarItem;
    expect(() => rendered(createElement(BarItem, { item: broken }))).toThrow(
      "a navbar item failed to render; it has neither 'to' nor 'href'; check this item of navbar.items in site-config.ts: {\"label\":\"Broken\"}",
    );
  });
});

test("drawer: the list of the current page is open", () => {
  const below: NavbarItem = {
    type: "dropdown",
    label: "Below",
    activeBaseRegex: "^/docs/",
    items: [],
  };
  const html = rendered(createElement(MainMenu, { items: [more, questions, below] }));
  const lists = [...html.matchAll(/<details( open="")?><summary>(\w+)/g)];
  expect(lists.map(([, open, label]) => [label, open !== undefined])).toEqual([
    ["More", false],
    ["Questions", true],
    ["Below", true],
  ]);
  expect(html).toContain('<li class="line"><hr></li>');
});

test("announcement: its HTML and colours, and no close button if it cannot be closed", () => {
  const bar = { id: "a", content: "<b>Told</b> to all", isCloseable: false };
  const colors = { backgroundColor: "#010203", textColor: "#040506" };
  expect(rendered(createElement(AnnouncementBar, { bar: { ...bar, ...colors } }))).toBe(
    '<section class="announcement" aria-label="Announcement" data-id="a" style="background-color:#010203;color:#040506"><p><b>Told</b> to all</p></section>',
  );
});

describe("footer", () => {
  const inside = { label: "In", to: "/docs" };
  const outside = { label: "Out", href: "https://example.com/" };
  const links =
    '<li><a href="/docs">In</a></li><li><a href="https://example.com/" rel="noopener">Out</a></li>';

  test("columns, and a logo with a link, in both modes", () => {
    const logo = { src: "/a.svg", srcDark: "/b.svg", alt: "Sign", width: 20, height: 10 };
    const config: FooterConfig = {
      style: "dark",
      links: [{ title: "One", items: [inside, outside] }],
      logo: { ...logo, href: "https://example.com/" },
      copyright: "Ours",
    };
    const html = rendered(createElement(Footer, { config }));
    expect(html).toStartWith('<footer class="footer footer-dark"');
    expect(html).toContain(`<div><h2>One</h2><ul>${links}</ul></div>`);
    expect(html).toContain(
      '<a href="https://example.com/" rel="noopener"><img src="/a.svg" alt="Sign" width="20" height="10" loading="lazy" data-only="light"/><img src="/b.svg" alt="Sign" width="20" height="10" loading="lazy" data-only="dark"/></a>',
    );
  });

  test("one list, and a logo alone", () => {
    const logo = { src: "/a.svg", alt: "Sign" };
    const config = { style: "light", links: [inside, outside], logo, copyright: "Ours" } as const;
    const html = rendered(createElement(Footer, { config }));
    expect(html).toStartWith('<footer class="footer footer-light"');
    expect(html).toContain(`<nav class="footer-flat" aria-label="Footer"><ul>${links}</ul></nav>`);
    expect(html).toContain('<img src="/a.svg" alt="Sign" loading="lazy"/>');
    expect(html).toContain('<p class="footer-copyright">Ours</p>');
  });
});
