import { expect, test } from "bun:test";
import { bootLate } from "./late-boot.ts";

const page = `<head><link rel="modulepreload" href="/assets/a.js"/></head><body><script>window.__reactRouterContext = {"ssr":false};window.__reactRouterContext.stream = new ReadableStream({start(controller){window.__reactRouterContext.streamController = controller;}}).pipeThrough(new TextEncoderStream());</script><script type="module" async="">import "/assets/manifest.js";
import * as route0 from "/assets/root.js";
 window.__reactRouterRouteModules = {"root":route0};

import("/assets/entry.js");</script><!--$--><script>window.__reactRouterContext.streamController.enqueue("[]");</script><!--$--><script>window.__reactRouterContext.streamController.close();</script><!--/$--><!--/$--></body>`;

test("the boot module waits for the page; nothing of it is preloaded", () => {
  const html = bootLate(page);
  expect(html).not.toContain("<link");
  expect(html).toContain('await import("/assets/manifest.js")');
  expect(html).toContain('const route0=await import("/assets/root.js")');
  expect(html).toContain('["/assets/a.js"]');
  expect(html).not.toMatch(/^\s*import /m);
  expect(html).toContain('<script>window.__reactRouterContext = {"ssr":false};</script>');
  expect(html).toEndWith("</script></body>");
});

test("what all is made of starts first, each file before those that import it", () => {
  const hrefs = ["/assets/shell-b.js", "/assets/packages-a.js"];
  const links = hrefs.map((href) => `<link rel="modulepreload" href="${href}"/>`).join("");
  const html = bootLate(page.replace("<link", `${links}<link`));
  const first = '["/assets/packages-a.js","/assets/shell-b.js"]){await import(h);';
  expect(html.indexOf(first)).toBeGreaterThan(0);
  expect(html.indexOf(first)).toBeLessThan(html.indexOf('await import("/assets/manifest.js")'));
});

test("the module of a still page is not asked for; what the page's frame needs of it is there", () => {
  const two = page
    .replace("import * as route0", 'import * as route1 from "/assets/b.js";\nimport * as route0')
    .replace('"root":route0', '"root":route0,"docs/b":route1')
    .replace("<link", '<link rel="modulepreload" href="/assets/b.js"/><link');
  const handle = { frontmatter: { title: "</script>" } };
  const html = bootLate(two, { id: "docs/b", handle, scripts: ["/assets/b.js"] });
  expect(html).not.toContain("/assets/b.js");
  expect(html).toContain('["/assets/a.js"]');
  expect(html).toContain(
    '{"root":route0,"docs/b":{"handle":{"frontmatter":{"title":"\\u003c/script>"}}}}',
  );
  expect(() => bootLate(two, { id: "docs/c", handle, scripts: [] })).toThrow(
    "boot script is not as expected; it does not import the route 'docs/c'",
  );
});

test.each([
  ["none", "<body></body>"],
  ["two", page + page],
  ["another form of import", page.replace("import *", 'import { a } from "/b.js";\nimport *')],
])("a document that is not as expected fails the build: %s", (_, html) => {
  expect(() => bootLate(html)).toThrow("boot script is not as expected");
});
