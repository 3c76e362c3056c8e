import { expect, test } from "bun:test";
import { compile } from "@mdx-js/mdx";
import { mdxOptions } from "./mdx-options.ts";
import { folders } from "./site-folder.ts";

test("mdx: the checkboxes of a task list are labelled by their items", async () => {
  const file = { path: `${folders.root}/tasks.mdx`, value: "- [ ] Drain the *node*" };
  const page = await compile(file, mdxOptions());
  expect(String(page)).toContain('"aria-label": "Drain the node"');
});
