import { expect, test } from "bun:test";
import { createLog } from "./log.ts";

function setup(level: Parameters<typeof createLog>[0]["level"]) {
  const lines: string[] = [];
  const log = createLog({ level, write: (line) => lines.push(line) });
  return { log, events: () => lines.map((line) => JSON.parse(line)), lines };
}

test("log: an event is one line of JSON with level, time, event and its fields", () => {
  const { log, events, lines } = setup("info");
  log.info("queue created", { queue: "a\nb", partitions: 3 });
  expect(lines[0]).toMatch(/^\{.*\}\n$/);
  expect(events()).toEqual([
    {
      level: "info",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      event: "queue created",
      queue: "a\nb",
      partitions: 3,
    },
  ]);
});

test.each([
  ["debug", ["debug", "info", "warn", "error", "fatal"]],
  ["warn", ["warn", "error", "fatal"]],
  ["fatal", ["fatal"]],
] as const)("log: level %s lets through %p", (level, through) => {
  const { log, events } = setup(level);
  log.debug("event");
  log.info("event");
  log.warn("event");
  log.error("event", new Error("cause"));
  log.fatal("event", new Error("cause"));
  expect(events().map((event) => event.level)).toEqual([...through]);
});

test("log: a cause is logged with its stack and the causes behind it, and nothing else of it", () => {
  const { log, events } = setup("info");
  const root = Object.assign(new Error("disk full"), { code: "SQLITE_FULL", row: "secret" });
  log.error("commit failed", new TypeError("no commit", { cause: root }), { shard: 2 });
  expect(events()[0]).toMatchObject({
    event: "commit failed",
    shard: 2,
    cause: {
      name: "TypeError",
      message: "no commit",
      stack: expect.stringContaining("log.test.ts"),
      cause: { name: "Error", message: "disk full", code: "SQLITE_FULL" },
    },
  });
  expect(JSON.stringify(events())).not.toContain("secret");
});

test("log: a cause that is not an error is logged as text", () => {
  const { log, events } = setup("info");
  log.fatal("worker ended", 7);
  expect(events()[0]).toMatchObject({ level: "fatal", cause: { message: "7" } });
});

test("log: payloads and keys are left out even when they are passed by mistake", () => {
  const { log, events } = setup("info");
  log.warn("slip", { payload: "p", bytes: "b", utf8: "u", authorization: "a", kind: "k" });
  expect(events()).toEqual([{ level: "warn", time: expect.any(String), event: "slip", kind: "k" }]);
});

test("log: without a writer, lines go to standard error at once", async () => {
  const script = `
    import { createLog } from "${import.meta.dir}/log.ts";
    createLog({ level: "info" }).fatal("last words", new Error("cause"));
    process.exit(70);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect(await child.exited).toBe(70);
  expect(out).toBe("");
  expect(JSON.parse(err)).toMatchObject({ level: "fatal", event: "last words" });
});
