import { expect, test } from "bun:test";
import type { DocData } from "../build/content.ts";
import { routeMatchesMax } from "../config/constants.ts";
import type { DocsVersion } from "../config/types.ts";
import { docsAddressOf, pathIn } from "./versions.ts";

const current = { name: "current", label: "Next", path: "/docs", mainDoc: "intro" };
const older = { name: "1.0", label: "1.0", path: "/docs/1.0", mainDoc: "start" };
const versions: readonly DocsVersion[] = [current, older];

function doc(version: string, slug: string): DocData {
  return { version, slug, title: slug, label: slug, description: "", position: 1 };
}

test.each([
  ["/docs", current, null],
  ["/docs/faq", current, "faq"],
  ["/docs/1.0", older, null],
  ["/docs/1.0/faq", older, "faq"],
])("docsAddressOf: the version of %s", (path, version, slug) => {
  expect(docsAddressOf(path, versions)).toEqual({ version, slug });
});

test("docsAddressOf: results are cached, up to a limit", () => {
  const seen = docsAddressOf("/docs/faq", versions);
  expect(docsAddressOf("/docs/faq", versions)).toBe(seen);
  for (let index = 0; index < routeMatchesMax; index += 1)
    docsAddressOf(`/docs/${index}`, versions);
  const again = docsAddressOf("/docs/faq", versions);
  expect(again).toEqual(seen);
  expect(again).not.toBe(seen);
});

test("docsAddressOf: a path that only begins like the docs has no version", () => {
  expect(docsAddressOf("/docsets", versions)).toBeNull();
  expect(docsAddressOf("/blog", versions)).toBeNull();
});

test("another version: the same doc, or the main doc if it has none", () => {
  const docs = [doc("1.0", "start"), doc("1.0", "faq")];
  expect(pathIn(older, { slug: "faq", docs })).toBe("/docs/1.0/faq");
  expect(pathIn(older, { slug: "embedded", docs })).toBe("/docs/1.0/start");
  expect(pathIn(older, { slug: null, docs })).toBe("/docs/1.0/start");
});
