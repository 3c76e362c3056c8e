import { expect, test } from "bun:test";
import { type Command, exitCodes, readCommand, usage } from "./cli.ts";
import { configReference } from "./config.ts";

const commands: [string[], Command][] = [
  [[], { name: "serve", argv: [] }],
  [["--port", "1"], { name: "serve", argv: ["--port", "1"] }],
  [["serve", "--port", "1"], { name: "serve", argv: ["--port", "1"] }],
  [["--port", "1", "--help"], { name: "help" }],
  [["serve", "-h"], { name: "help" }],
  [["--version"], { name: "version" }],
  [["--help", "--version"], { name: "help" }],
];

test.each(commands)("readCommand: %j", (argv, command) => {
  expect(readCommand(argv)).toEqual(command);
});

test("readCommand: an unknown command is a fault that says what there is", () => {
  expect(readCommand(["sreve"])).toEqual({
    name: "unknown",
    fault:
      'unknown command; expected serve, --help or --version, got "sreve" (did you mean serve?)',
  });
  expect(readCommand(["drop"])).toEqual({
    name: "unknown",
    fault: 'unknown command; expected serve, --help or --version, got "drop"',
  });
});

test("usage: names every flag with its variable, meaning and default, and every exit code", () => {
  const lines = usage().split("\n");
  for (const row of configReference()) {
    const at = lines.indexOf(`  ${row.flag}  (${row.env})`);
    expect(lines[at + 1]).toBe(`      ${row.meaning}`);
    expect(lines[at + 2]).toStartWith(`      ${row.values}`);
    expect(lines[at + 2]).toEndWith(row.default === "" ? "" : `; default ${row.default}`);
  }
  for (const { code, when } of Object.values(exitCodes)) {
    expect(lines).toContain(`  ${String(code).padStart(2)}  ${when}`);
  }
});

test("usage: every line fits on a terminal of 100 columns", () => {
  expect(
    usage()
      .split("\n")
      .filter((line) => line.length > 100),
  ).toEqual([]);
});
