import { describe, expect, test } from "bun:test";
import type { Element } from "hast";
import { fromHtml } from "hast-util-from-html";
import type { Link, Paragraph, Root, Text } from "mdast";
import { codes, reasons, settings } from "../facts/reference.ts";
import { textOfPage } from "./page-markdown.ts";
import { callSections, rowSections } from "./search-data.ts";
import { sectionsOf } from "./search-sections.ts";

const text = (value: string): Text => ({ type: "text", value });
const paragraph = (value: string): Paragraph => ({ type: "paragraph", children: [text(value)] });

test("sections: list items are separated, and each term is a section", () => {
  const tree: Root = {
    type: "root",
    children: [
      { type: "paragraph", children: [{ type: "strong", children: [text("Hold")] }, text("fast")] },
      { type: "heading", depth: 2, children: [text("What it is not")] },
      {
        type: "list",
        children: ["No order.", "No copy."].map((value) => ({
          type: "listItem",
          children: [paragraph(value)],
        })),
      },
      { type: "html", value: "<!-- -->" },
      { type: "code", value: "curl --json @body --json 0190aa11-id FROM_HERE" },
      { type: "heading", depth: 2, children: [text("Terms")] },
      {
        type: "paragraph",
        children: [
          { type: "strong", children: [text("Lapse.")] },
          text(" A lease ends. So be it."),
        ],
      },
    ],
  };
  const own = { page: "A", code: "", weight: 1 };
  expect(sectionsOf({ path: "/docs/a", title: "A", description: "About it.", tree })).toEqual([
    { ...own, url: "/docs/a", heading: "A", text: "About it. Holdfast" },
    {
      ...own,
      url: "/docs/a#what-it-is-not",
      heading: "What it is not",
      text: "No order. No copy.",
      code: "curl json body id FROM_HERE",
    },
    { ...own, url: "/docs/a#terms", heading: "Terms", text: "" },
    {
      ...own,
      weight: expect.any(Number),
      url: "/docs/a#terms",
      heading: "Lapse",
      text: "A lease ends. So be it.",
    },
  ]);
});

test("sections: charts and post facts are in the Markdown, but not in the search", () => {
  const html =
    '<p class="post-facts">5 min read</p><p>Prose.</p><figure class="chart"><figcaption>Produce</figcaption><div>24,700</div><p>Medians.</p><details><summary>Figures</summary><table><tr><th>at</th><th>median</th></tr><tr><td>1</td><td>24,700</td></tr></table></details></figure>';
  const { children } = fromHtml(`<main>${html}</main>`, { fragment: true });
  const { markdown, tree } = textOfPage(children[0] as Element);
  const table = "| at | median |\n| - | - |\n| 1 | 24,700 |";
  expect(markdown).toBe(`5 min read\n\nProse.\n\nProduce\n\nMedians.\n\nFigures\n\n${table}\n`);
  const [section] = sectionsOf({ path: "/blog/a", title: "A", description: "", tree });
  expect(section?.text).toBe("Prose.");
});

test("Markdown: a block of code keeps its title", () => {
  const html =
    '<figure class="code" data-lang="bash"><figcaption><span class="code-title">With Node</span></figcaption><pre><code>npx</code></pre></figure>';
  const { children } = fromHtml(`<main>${html}</main>`, { fragment: true });
  expect(textOfPage(children[0] as Element).markdown).toBe('```bash title="With Node"\nnpx\n```\n');
});

test("sections: a term that links to its explanation is not a section", () => {
  const term = (word: string, ...rest: Paragraph["children"]): Paragraph => ({
    type: "paragraph",
    children: [{ type: "strong", children: [text(`${word}.`)] }, text(" It is "), ...rest],
  });
  const there: Link = { type: "link", url: "/docs/b", children: [text("there")] };
  const tree: Root = { type: "root", children: [term("Lapse", text("here")), term("Role", there)] };
  const [page, own, pointer] = sectionsOf({ path: "/docs/a", title: "A", description: "", tree });
  expect(own?.weight).toBeLessThan(page?.weight ?? 0);
  expect(pointer?.weight).toBeLessThan(own?.weight ?? 0);
});

test("sections: the fields of a call are separated", () => {
  const lease = callSections().find(({ url }) => url === "/api/lease");
  expect(lease?.text).toStartWith("/v1/queue.lease Leases");
  expect(lease?.text).toMatch(/ · client_id: [^·]+\. · request_timeout: [^·]+\. · batch_size: /);
});

describe("rows of generated tables", () => {
  const shown = (ids: readonly string[]): Element => ({
    type: "element",
    tagName: "main",
    properties: {},
    children: ids.map((id) => ({
      type: "element",
      tagName: "tr",
      properties: { id },
      children: [],
    })),
  });
  const configuration = {
    path: "/docs/configuration",
    title: "Configuration",
    main: shown(settings.map(({ flag }) => flag.slice(2))),
  };
  const codeIds = codes.map(({ code }) => `code-${code}`);
  const reasonIds = reasons.map(({ reason }) => `reason-${reason}`);
  const errors = (ids: readonly string[]) => ({
    path: "/docs/errors",
    title: "Errors",
    main: shown(ids),
  });

  test("each is at its anchor on the page that contains it", () => {
    const rows = rowSections([configuration, errors([...codeIds, ...reasonIds])]);
    expect(rows).toHaveLength(settings.length + codes.length + reasons.length);
    expect(rows.find(({ heading }) => heading.startsWith("429 "))?.url).toBe(
      "/docs/errors#code-429",
    );
  });

  test("a row that no page contains fails the build", () => {
    const missing = "the search leads to a row that no page shows: /docs/errors#code-200";
    expect(() => rowSections([configuration, errors(reasonIds)])).toThrow(missing);
    expect(() => rowSections([errors([...codeIds, ...reasonIds])])).toThrow("/docs/configuration#");
  });
});
