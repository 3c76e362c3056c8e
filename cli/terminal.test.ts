// Output on a terminal: colours, progress, and tables that are refreshed.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client/client.ts";
import { type ListeningApp, listeningApp } from "../server/testing/listening-app.ts";

const main = join(import.meta.dir, "main.ts");
let server: ListeningApp;

beforeAll(async () => {
  server = await listeningApp();
  const queue = createClient({ url: server.url }).queue("orders");
  await queue.create({ lease_timeout: "30m", expire_timeout: "1h" });
});

afterAll(() => server.stop());

/**
 * Runs the command on a terminal until it has printed the expected text, which may arrive after it
 * ended. `answer` is typed at the question; other options are environment variables.
 */
async function shown(
  words: readonly string[],
  { answer, ...env }: Record<string, string>,
  isEnough: (text: string) => boolean,
  whenAsked: () => Promise<unknown> = async () => undefined,
) {
  const { NO_COLOR: _, ...inherited } = process.env;
  const seen = Promise.withResolvers<void>();
  // A chunk may end within a character.
  const decoder = new TextDecoder();
  let text = "";
  let isAsked = false;
  const terminal = new Bun.Terminal({
    cols: 120,
    rows: 30,
    data: (asking, bytes) => {
      text += decoder.decode(bytes, { stream: true });
      if (!isAsked && text.includes("[y/N] ")) {
        isAsked = true;
        void whenAsked().then(() => asking.write(answer ?? ""));
      }
      if (isEnough(text)) seen.resolve();
    },
  });
  const child = Bun.spawn([process.execPath, main, ...words], {
    env: { ...inherited, HOLDFAST_URL: server.url, ...env },
    terminal,
  });
  await seen.promise;
  child.kill("SIGINT");
  await child.exited;
  terminal.close();
  return text;
}

const bold = "\u001b[1m";

test("tables: have colours on a terminal unless NO_COLOR is set; JSON never has", async () => {
  const hasRow = (text: string) => /orders[^\n]*\n/.test(text);
  expect(await shown(["queues", "list"], {}, hasRow)).toContain(bold);
  expect(await shown(["queues", "list"], { NO_COLOR: "1" }, hasRow)).not.toContain("\u001b[");
  expect(await shown(["queues", "list", "--json"], {}, hasRow)).not.toContain("\u001b[");
});

test("produce: shows its progress", async () => {
  const isOver = (text: string) => text.includes("produced 2 items into orders");
  const text = await shown(["produce", "orders", "a", "b"], {}, isOver);
  expect(text).toMatch(/█{30} 2 items, [\d,]+\/s/);
});

test("export and import: show their progress and the total", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-terminal-"));
  const file = join(folder, "orders.jsonl");
  try {
    const client = createClient({ url: server.url });
    const timeouts = { lease_timeout: "30m", expire_timeout: "1h" };
    await client.queue("from").create(timeouts);
    await client.queue("to").create(timeouts);
    await client.queue("from").produce(["a", "b", "c"]);
    const isOver = (text: string) => /(ex|im)ported 3 items/.test(text);
    for (const words of [
      ["export", "from", "--out", file],
      ["import", "to", file],
    ]) {
      expect(await shown(words, {}, isOver)).toMatch(/█{30} 3 items, [\d,]+\/s/);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("stats --watch: draws each table over the previous one", async () => {
  const home = "\u001b[1;1H";
  const tables = (text: string) => text.split(home).filter((piece) => piece.includes("partition"));
  const watch = ["stats", "orders", "--watch", "10ms"];
  const text = await shown(watch, { NO_COLOR: "1" }, (soFar) => tables(soFar).length >= 2);
  expect(tables(text).length).toBeGreaterThanOrEqual(2);
});

test("stats --watch: prints rates from the second output on", async () => {
  const queue = createClient({ url: server.url }).queue("rated");
  await queue.create({ lease_timeout: "30m", expire_timeout: "1h" });
  await queue.produce(["a", "b"]);
  const watch = ["stats", "rated", "--watch", "10ms"];
  const rates = (text: string) => text.match(/^per second: .*/gm) ?? [];
  const text = await shown(watch, { NO_COLOR: "1" }, (soFar) => rates(soFar).length >= 2);
  const [first, second] = rates(text).map((line) => line.trimEnd());
  expect(first).toBe("per second: - produced, - arrived, - leased, - completed, - lapsed, - dead");
  expect(second).toBe("per second: 0 produced, 0 arrived, 0 leased, 0 completed, 0 lapsed, 0 dead");
});

test("queues delete --force: asks with the counts that will be lost, and continues only after yes", async () => {
  const client = createClient({ url: server.url });
  const queue = client.queue("forced");
  await queue.create({ lease_timeout: "30m", expire_timeout: "1h" });
  await queue.produce(["a", "b", "c", { utf8: "d", enqueue_at: "2999-01-01T00:00:00Z" }]);
  await queue.lease();
  const words = ["queues", "delete", "forced", "--force"];
  const isOver = (text: string) => /nothing changed|deleted forced/.test(text);
  const text = await shown(words, { answer: "no\r" }, isOver);
  expect(text).toContain(
    "delete forced: 2 ready, 1 leased, 1 scheduled, 0 retried will be lost; continue? [y/N] ",
  );
  expect(await queue.info()).toMatchObject({ queue_name: "forced" });
  expect(await shown(words, { answer: "y\r" }, isOver)).toContain("deleted forced");
  await expect(queue.info()).rejects.toThrow("queue does not exist");
});

test("tables: control characters of a payload do not reach the terminal", async () => {
  const queue = createClient({ url: server.url }).queue("bells");
  await queue.create({ lease_timeout: "30m", expire_timeout: "1h" });
  await queue.produce({ utf8: "a\u001b]0;owned\u0007b", kind: "\u001b[5m" });
  const hasRow = (text: string) => /owned[^\n]*\n/.test(text);
  const text = await shown(["lease", "bells"], { NO_COLOR: "1" }, hasRow);
  expect(text).toContain("a\\u001b]0;owned\\u0007b");
  for (const character of ["\u001b", "\u0007"]) expect(text).not.toContain(character);
});

test("clear: asks with the counts that will be lost, and continues only after yes", async () => {
  const queue = createClient({ url: server.url }).queue("asked");
  await queue.create({ lease_timeout: "30m", expire_timeout: "1h" });
  await queue.produce(["a", "b"]);
  const words = ["clear", "asked", "--ready"];
  const isOver = (text: string) => /nothing changed|cleared asked/.test(text);
  // Enter, another word, Ctrl-C and Ctrl-D.
  for (const answer of ["\r", "no\r", "\u0003", "\u0004"]) {
    const text = await shown(words, { answer }, isOver);
    expect(text).toContain("clear asked: 2 ready will be lost; continue? [y/N] ");
    expect(text).toContain("nothing changed");
  }
  expect(await queue.inspect()).toMatchObject({ queued: 2 });
  expect(await shown(words, { answer: "y\r" }, isOver)).toContain("cleared asked: 2 ready");
  expect(await queue.inspect()).toMatchObject({ queued: 0 });
});

test.each(["clear between --ready", "queues delete between --force"])(
  "%s: items that arrive while it asks are not removed",
  async (line) => {
    const queue = createClient({ url: server.url }).queue("between");
    await queue.create({ lease_timeout: "30m", expire_timeout: "1h" });
    await queue.produce(["a", "b"]);
    const isOver = (text: string) => /count has changed|cleared between|deleted between/.test(text);
    const produceMore = () => queue.produce("c");
    const text = await shown(line.split(" "), { answer: "y\r" }, isOver, produceMore);
    expect(text).toContain("2 ready");
    expect(text).toContain("count has changed");
    expect(await queue.inspect()).toMatchObject({ queued: 3 });
    await queue.delete({ force: true });
  },
);
