import { expect, test } from "bun:test";
import type { Command } from "commander";
import { withDefaultCommand } from "./command-line.ts";
import { createProgram } from "./program.ts";

test.each([
  [[], ["serve"]],
  [
    ["--port", "1"],
    ["serve", "--port", "1"],
  ],
  [
    ["serve", "--port", "1"],
    ["serve", "--port", "1"],
  ],
  [["sreve"], ["sreve"]],
])("withDefaultCommand: %j", (words, command) => {
  expect(withDefaultCommand(words, (word) => word.startsWith("-"))).toEqual(command);
});

/** The help texts of a flag, with the commands that use each. */
function meaningsOf(flag: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const look = (command: Command, path: readonly string[]): void => {
    for (const { short, long, flags, description } of command.options) {
      if (short !== flag && long !== flag) continue;
      const meaning = short === flag ? flags : description;
      found.set(meaning, [...(found.get(meaning) ?? []), path.join(" ")]);
    }
    for (const inner of command.commands) look(inner, [...path, inner.name()]);
  };
  look(createProgram({ isJson: false }), []);
  return found;
}

test("help: every line of every command fits in 100 columns", () => {
  const long: string[] = [];
  const check = (command: Command): void => {
    const writeOut = (text: string): void => {
      long.push(...text.split("\n").filter((line) => line.length > 100));
    };
    command.configureOutput({ writeOut, getOutHelpWidth: () => 100 }).outputHelp();
    for (const inner of command.commands) check(inner);
  };
  check(createProgram({ isJson: false }));
  expect(long).toEqual([]);
});

test("flags: --reason filters, --because gives a reason and -w watches, in every command", () => {
  expect([...meaningsOf("--reason").values()]).toEqual([
    ["items find", "items summarize", "redrive", "repair"],
  ]);
  expect([...meaningsOf("--because").values()].flat()).toEqual([
    ...["retry", "queues pause", "repair"],
  ]);
  for (const meaning of meaningsOf("--because").keys()) expect(meaning).toStartWith("why ");
  expect([...meaningsOf("-w")]).toEqual([["-w, --watch [interval]", ["overview", "stats"]]]);
});
