import { expect, test } from "bun:test";
import type { LogFields } from "../../observability/log.ts";
import { silentLog } from "../../testing/memory-engine.ts";
import { warnOfOpenFiles } from "./open-files.ts";

function warningsOf(limits: string | null, connectionsMax = 10_000) {
  const warned: [string, LogFields | undefined][] = [];
  const readFile = () => {
    if (limits === null) throw new Error("no such file");
    return limits;
  };
  const warn = (event: string, fields?: LogFields) => void warned.push([event, fields]);
  warnOfOpenFiles({ connectionsMax, readFile, log: { ...silentLog, warn } });
  return warned;
}

const limitsOf = (soft: string) =>
  `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}                 1048576              files\n`;

test("open files: a limit below the number of connections is a warning with both numbers", () => {
  expect(warningsOf(limitsOf("1024"))).toEqual([
    [
      "open-file limit is too low for --connections-max",
      {
        allowed: 1_024,
        connectionsMax: 10_000,
        hint: "raise ulimit -n or lower --connections-max",
      },
    ],
  ]);
});

test.each([
  [limitsOf("10256"), 10_000],
  [limitsOf("1024"), 768],
  [limitsOf("unlimited"), 10_000],
  [null, 10_000],
])("open files: %p is no reason to warn", (limits, connectionsMax) => {
  expect(warningsOf(limits, connectionsMax)).toEqual([]);
});
