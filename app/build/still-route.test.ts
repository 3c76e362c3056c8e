import { expect, test } from "bun:test";
import type { EntryContext } from "react-router";
import { stillRoute } from "./still-route.ts";

function contextOf(handle: object): EntryContext {
  const context = {
    manifest: {
      entry: { module: "/entry.js", imports: ["/packages.js"] },
      routes: {
        root: { module: "/root.js", imports: ["/packages.js", "/shell.js"] },
        page: { module: "/page.js", imports: ["/packages.js", "/shell.js", "/chart.js"] },
      },
    },
    routeModules: { page: { handle } },
    staticHandlerContext: { matches: [{ route: { id: "root" } }, { route: { id: "page" } }] },
  };
  return context as unknown as EntryContext;
}

const facts = { source: "a.mdx", updated: null, frontmatter: { title: "A", description: "B" } };

test("a still page does without its module and what only that imports; its contents are not sent again", () => {
  expect(stillRoute(contextOf({ ...facts, isStill: true, toc: [{ depth: 2 }] }))).toEqual({
    id: "page",
    handle: facts,
    scripts: ["/page.js", "/chart.js"],
  });
});

test.each([[{ ...facts, isStill: false }], [{}]])(
  "any other page has all its code: %p",
  (handle) => {
    expect(stillRoute(contextOf(handle))).toBeNull();
  },
);
