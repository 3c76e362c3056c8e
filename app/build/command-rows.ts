// Every command of the program as `--help` shows it.

import type { Command } from "commander";
import { createProgram } from "../../cli/program.ts";

export interface CommandRow {
  /** `queues create`. */
  readonly name: string;
  readonly usage: string;
  readonly meaning: string;
  readonly words: readonly CommandWord[];
}

/** An argument or a flag. */
export interface CommandWord {
  readonly word: string;
  readonly meaning: string;
}

const program = createProgram({ isJson: false });
const help = program.createHelp();

function flagsOf(command: Command): readonly CommandWord[] {
  return help
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help")
    .map((option) => ({ word: option.flags, meaning: help.optionDescription(option) }));
}

/** Those that do something themselves, in the order of `--help`. */
function rowsOf(parent: Command, path: string): readonly CommandRow[] {
  return help.visibleCommands(parent).flatMap((command): readonly CommandRow[] => {
    const name = `${path}${command.name()}`;
    if (command.name() === "help") return [];
    const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
    if (isGroup) return rowsOf(command, `${name} `);
    const words = help.visibleArguments(command).map((argument) => ({
      word: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      meaning: help.argumentDescription(argument),
    }));
    // The flags of `serve` are the settings, which have a page of their own.
    const flags = name === "serve" ? [] : flagsOf(command);
    return [
      {
        name,
        usage: `holdfast ${name} ${command.usage()}`,
        meaning: command.description(),
        words: [...words, ...flags],
      },
    ];
  });
}

export const commands: readonly CommandRow[] = rowsOf(program, "");
export const sharedFlags: readonly CommandWord[] = flagsOf(program);
