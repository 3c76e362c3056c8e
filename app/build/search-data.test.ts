import { expect, test } from "bun:test";
import type { Paragraph, Root, Text } from "mdast";
import { sectionsOf } from "./search-data.ts";

const text = (value: string): Text => ({ type: "text", value });
const paragraph = (value: string): Paragraph => ({ type: "paragraph", children: [text(value)] });

test("sections: items of a list stand apart, what runs on does not, and charts are left out", () => {
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
      { type: "code", value: "curl" },
    ],
  };
  expect(sectionsOf({ path: "/docs/a", title: "A", tree })).toEqual([
    { url: "/docs/a", page: "A", heading: "A", text: "Holdfast" },
    {
      url: "/docs/a#what-it-is-not",
      page: "A",
      heading: "What it is not",
      text: "No order. No copy.",
    },
  ]);
});
