// The contract's reasons for failed calls, compared with the failures in the code.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deletedInPart, failure, QueueError } from "../../engine/model/errors.ts";
import { operations, pages } from "../../openapi/operations.ts";
import { type Reason, reasons } from "../../openapi/reasons.ts";
import type { Reply } from "../../openapi/schemas.ts";
import { encodeJson, errorResponse, HttpError } from "../http/reply.ts";

const root = join(import.meta.dir, "../..");
const names = Object.keys(reasons) as Reason[];

/** Finds the reasons of all failures in the code; the compiler requires a reason for each. */
function madeIn(folder: string): { engine: Set<string>; http: Set<string> } {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  const sources = files
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) => !file.startsWith("simulation") && !file.startsWith("testing"))
    .map((file) => readFileSync(join(root, folder, file), "utf8"));
  const named = (made: RegExp) =>
    new Set(sources.flatMap((text) => [...text.matchAll(made)].map(([, name = ""]) => name)));
  return {
    engine: named(/\b(?:failure|tooMany)\(\s*"(\w+)"/g),
    http: named(/new HttpError\(\s*"(\w+)"/g),
  };
}

const [engine, server] = [madeIn("engine"), madeIn("server")];
const made = new Set([...engine.engine, ...server.engine, ...server.http]);

test("reasons: the contract and the code have the same", () => {
  expect([...made].sort()).toEqual(names.toSorted());
  expect(engine.engine.size).toBeGreaterThan(20);
  expect(server.http.size).toBeGreaterThan(10);
});

const log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

async function replyTo(error: unknown) {
  const response = errorResponse(error, log, encodeJson);
  return { status: response.status, reply: (await response.json()) as Reply };
}

test.each([...engine.engine])(
  "an engine call that fails for %s gets its reply code",
  async (name) => {
    const failed = failure(name as Parameters<typeof failure>[0], "why");
    const { status, reply } = await replyTo(QueueError.from(failed));
    expect(reply).toMatchObject({ code: status, reason: name, message: "why" });
    expect(reasons[failed.reason].codes as readonly number[]).toContain(status);
  },
);

test.each([...server.http])("a request that HTTP refuses for %s is answered so", async (name) => {
  const { status, reply } = await replyTo(new HttpError(name as Reason, "why"));
  expect(reply).toMatchObject({ code: status, reason: name, message: "why" });
});

test.each(["store", "full", "closing"] as const)(
  "a delete that had a partial effect because of %s has its own reason",
  async (code) => {
    const { status, reply } = await replyTo(QueueError.from(deletedInPart(code)));
    expect(reply).toMatchObject({ code: status, reason: "in_part" });
    expect(reasons.in_part.codes as readonly number[]).toContain(status);
  },
);

test("an unexpected error has a reason too", async () => {
  expect((await replyTo(new Error("secret"))).reply).toEqual({
    code: 500,
    code_text: "Internal Service Error",
    message: "Internal Error",
    reason: "internal",
  });
});

test("the contract: every error reply that it shows has a reason of its code", () => {
  const rows = [...Object.values(operations), ...Object.values(pages)];
  const shown = rows.flatMap(({ replies }) => Object.entries(replies));
  for (const [code, { example }] of shown) {
    if (code === "200") continue;
    const { reason } = example as { reason: Reason };
    expect([reason, reasons[reason].codes as readonly number[]]).toEqual([
      reason,
      expect.arrayContaining([Number(code)]),
    ]);
  }
});

test("the contract: every reason has a sentence", () => {
  for (const [name, { meaning, codes }] of Object.entries(reasons)) {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(meaning).toEndWith(".");
    expect(new Set<number>(codes).size).toBe(codes.length);
  }
});
