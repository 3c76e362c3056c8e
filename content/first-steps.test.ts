// The first steps against what a newcomer meets next: the bodies that the API's pages fill in,
// and the quick start, which goes on with the same queue.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { document } from "../openapi/document.ts";
import { operations } from "../openapi/operations.ts";
import { firstSteps } from "./first-steps.ts";

const quickStart = readFileSync(join(import.meta.dir, "docs/quick-start.mdx"), "utf8");
const { createQueue, produce, lease, complete } = operations;

test("first steps: they begin with a clone of the repository, or in the folder where none is known", () => {
  const known = firstSteps("https://example.org/it");
  expect(known).toStartWith("git clone https://example.org/it holdfast\n(cd holdfast && ");
  expect(firstSteps(null)).toStartWith("npx --yes bun start &\ncurl ");
  const [block] = firstSteps(null).split("&\n").slice(1);
  expect(known).toContain(String(block));
});

test("first steps: their queue is the one of the API's examples", () => {
  const [, dead, queue] = firstSteps(null).split("queue_name");
  expect(dead).toStartWith('": "orders-dead"');
  expect(queue).toStartWith('": "orders"');
  const examples = [createQueue, produce, lease, complete].map(({ example }) => example);
  expect(examples.map(({ queue_name }) => queue_name)).toEqual(Array(4).fill("orders"));
});

test("first steps: the queues are those that the quick start would create", () => {
  const bodies = (text: string) =>
    [...text.matchAll(/queues\.create[^{]*'(\{[^}]*\})'/g)].map(([, body = ""]) =>
      JSON.parse(body),
    );
  expect(bodies(firstSteps(null))).toHaveLength(2);
  expect(bodies(firstSteps(null))).toEqual(bodies(quickStart).slice(0, 2));
});

test("first steps: the description of the API begins with the same calls, to the complete", () => {
  const [block = ""] = /(?<=```sh\n)[^`]*/.exec(document().info.description) ?? [];
  expect(firstSteps(null)).toEndWith(block);
  expect([...block.matchAll(/call (queues?\.\w+)/g)].map(([, name]) => name)).toEqual([
    ...["queues.create", "queues.create", "queue.produce", "queue.lease", "queue.complete"],
  ]);
});
