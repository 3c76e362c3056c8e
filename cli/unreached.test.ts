// Notes of commands about unreachable shards, against a server that lacks two shards.

import { afterAll, expect, test } from "bun:test";
import { type OperationId, operations } from "../openapi/operations.ts";
import { runInProcess } from "./testing/in-process.ts";

/** Replies of a node: the examples of the documentation with unreached shards. */
const server = Bun.serve({
  port: 0,
  fetch: ({ url }) => {
    const { pathname } = new URL(url);
    const ids = Object.keys(operations) as OperationId[];
    const id = ids.find((one) => operations[one].path === pathname);
    if (id === undefined) return new Response(null, { status: 404 });
    return Response.json({ ...operations[id].replies[200].example, unreached: [3, 5] });
  },
});
afterAll(() => server.stop(true));

function run(...words: string[]) {
  return runInProcess(words, { env: { HOLDFAST_URL: server.url.origin } });
}

test.each([
  ["queues list", "queues"],
  ["tasks list", "tasks"],
  ["actions", "actions"],
  ["overview", "queues"],
  ["shards", "figures"],
])("%s: names the shards that are missing", async (words, missing) => {
  const { code, error } = await run(...words.split(" "));
  const note = `shards 3, 5 could not be reached; their ${missing} are missing\n`;
  expect({ code, error }).toEqual({ code: 0, error: note });
  // The note is not part of the JSON output.
  const machine = await run(...words.split(" "), "--json");
  expect({ code: machine.code, error: machine.error }).toEqual({ code: 0, error: "" });
  JSON.parse(machine.out);
});
