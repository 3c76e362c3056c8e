import { expect, test } from "bun:test";
import type { DocData } from "../build/content.ts";
import { addressFrom, siteConfig } from "../site-config.ts";
import { sidebarDocs, sidebarGroups, sidebarTarget } from "./lookup.ts";
import type { Sidebar } from "./types.ts";

function doc(slug: string, version = "current"): DocData {
  return { slug, version, title: slug, label: slug, description: "", position: 1 };
}

function withSidebar(docs: Sidebar) {
  return { ...siteConfig, docs: { ...siteConfig.docs, sidebars: { docs } } };
}

const at = { sidebarId: "docs", version: "current" };

test("docs sidebar: the docs of its version, under its headings, in its order", () => {
  const docs = [doc("faq"), doc("intro"), doc("intro", "1.0")];
  const config = withSidebar([
    { label: "Start", docs: ["intro"] },
    { label: "More", docs: ["faq"] },
  ]);
  expect(sidebarGroups(config, docs, at)).toEqual([
    { label: "Start", docs: [doc("intro")] },
    { label: "More", docs: [doc("faq")] },
  ]);
  expect(sidebarDocs(config, docs, at).map(({ slug }) => slug)).toEqual(["intro", "faq"]);
});

test("docs sidebar: one without a link, or with an unknown doc, is refused", () => {
  expect(() => sidebarTarget(withSidebar([]), [doc("intro")], at)).toThrow(
    "docs sidebar has no link; expected at least one doc in 'docs'",
  );
  const config = withSidebar([{ label: "Start", docs: ["intro"] }]);
  expect(() => sidebarDocs(config, [doc("faq")], at)).toThrow("doc does not exist; got 'intro'");
});

const origin = /^https?:\/\/[^/]+$/;

test.each([
  [undefined, null],
  ["", null],
  ["https://holdfast.example", "https://holdfast.example"],
])("address: %p is %p", (value, address) => {
  expect(addressFrom({ SITE_URL: value }, "SITE_URL", origin)).toBe(address);
});

test.each(["https://holdfast.example/", "holdfast"])("address: %p is refused", (value) => {
  expect(() => addressFrom({ SITE_URL: value }, "SITE_URL", origin)).toThrow(
    `SITE_URL is invalid; expected an address as ${origin}, got '${value}'`,
  );
});
