import { expect, test } from "bun:test";
import type { Paragraph, Root, Text } from "mdast";
import { sectionsOf } from "./search-data.ts";

const text = (value: string): Text => ({ type: "text", value });
const paragraph = (value: string): Paragraph => ({ type: "paragraph", children: [text(value)] });

test("sections: items of a list stand apart, terms are places of their own, charts are left out", () => {
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
      { ...paragraph("items a second"), data: { isUnsearched: true } as object },
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
