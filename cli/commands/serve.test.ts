import { expect, test } from "bun:test";
import { configReference } from "../../server/config/settings.ts";
import { serveExitCodes } from "../exit-codes.ts";
import { serveText } from "./serve.ts";

const usage = serveText(["--help"]) ?? "";

test.each([
  [["--port", "1", "--help"], /^Usage: /],
  [["-h"], /^Usage: /],
  [["--version"], /^holdfast \d+\.\d+\.\d+\n$/],
  [["--help", "--version"], /^Usage: /],
])("serve: %j prints a text", (flags, text) => {
  expect(serveText(flags)).toMatch(text);
});

test.each([[[]], [["--port", "1"]]])("serve: %j starts a server", (flags) => {
  expect(serveText(flags)).toBeNull();
});

test("usage: names every flag with its variable, meaning and default, and every exit code", () => {
  const lines = usage.split("\n");
  for (const row of configReference()) {
    const at = lines.indexOf(`  ${row.flag}  (${row.env})`);
    expect(lines[at + 1]).toBe(`      ${row.meaning}`);
    expect(lines[at + 2]).toStartWith(`      ${row.values}`);
    expect(lines[at + 2]).toEndWith(row.default === "" ? "" : `; default ${row.default}`);
  }
  for (const { code, when } of Object.values(serveExitCodes)) {
    expect(lines).toContain(`  ${String(code).padStart(3)}  ${when}`);
  }
});

test("usage: every line fits on a terminal of 100 columns", () => {
  expect(usage.split("\n").filter((line) => line.length > 100)).toEqual([]);
});
