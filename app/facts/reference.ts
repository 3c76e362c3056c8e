// Documentation tables generated from the server's constants and the program's `--help`, so that
// they cannot differ.

import type { Command } from "commander";
import { createProgram } from "../../cli/program.ts";
import { limits as engineLimits } from "../../engine/model/limits.ts";
import { bounds } from "../../openapi/bounds.ts";
import { replyCodes } from "../../openapi/codes.ts";
import { reasons as replyReasons } from "../../openapi/reasons.ts";
import { configReference } from "../../server/config/settings.ts";
import { count } from "../charts/figures.ts";

export const settings = configReference();

export const codes = Object.entries(replyCodes).map(([code, reply]) => ({ code, ...reply }));

export const reasons = Object.entries(replyReasons).map(([reason, { codes: its, meaning }]) => {
  return { reason, codes: its.join(", "), meaning };
});

const sizeUnits = [
  ["GB", 1_000_000_000],
  ["GiB", 1024 ** 3],
  ["MB", 1_000_000],
  ["MiB", 1024 ** 2],
  ["kB", 1_000],
  ["KiB", 1024],
] as const;

/** In the largest unit that is exact. */
function size(bytes: number): string {
  const [unit, unitBytes] = sizeUnits.find(([, each]) => bytes % each === 0) ?? ["bytes", 1];
  return `${count(bytes / unitBytes)} ${unit}`;
}

type BoundBy<End extends string> = keyof typeof bounds extends infer Name
  ? Name extends `${infer Of}${End}`
    ? Of
    : never
  : never;

function range(of: BoundBy<"Min"> & BoundBy<"Max">): string {
  return `${count(bounds[`${of}Min` as const])} to ${count(bounds[`${of}Max` as const])}`;
}

const minutesMax = bounds.requestTimeoutMsMax / 60_000;
const daysMax = engineLimits.durationMsMax / 24 / 3_600_000;

export const limits = [
  ["produce-items", "Items in one produce", range("produceItems")],
  ["lease-batch", "`batch_size` of one lease", range("leaseBatch")],
  ["complete-ids", "Ids in one complete", range("completeIds")],
  ["retry-items", "Items in one retry", range("retryItems")],
  ["queues-list", "`limit` of a list of queues", range("queuesList")],
  ["storage-list", "`limit` of a list of stored items", range("storageList")],
  ["storage-bytes", "Payload of one page of stored items", size(bounds.storageListBytesMax)],
  [
    "request-timeout",
    "`request_timeout`",
    `${bounds.requestTimeoutMsMin} ms to ${minutesMax} minutes`,
  ],
  [
    "produce-timeout",
    "`request_timeout` of produce, as clients send it",
    bounds.produceRequestTimeoutDefault,
  ],
  [
    "lease-timeout",
    "`request_timeout` of lease, as clients send it",
    bounds.leaseRequestTimeoutDefault,
  ],
  ["queue-name", "Length of a queue's name", size(bounds.queueNameBytesMax)],
  ["dead-queue", "Length of a dead queue's name", size(bounds.deadQueueBytesMax)],
  ["reference", "Length of a queue's `reference`", size(bounds.queueReferenceBytesMax)],
  ["duration-text", "Length of a duration's text", `${bounds.durationTextMax} characters`],
  ["max-attempts", "`max_attempts`; 0 means without end", range("maxAttempts")],
  ["partitions", "Partitions of one queue", range("partitions")],
  ["queues", "Queues of one server", count(bounds.queuesMax)],
  ["produce-body", "Size of a produce request", size(bounds.produceBodyBytesMax)],
  ["import-body", "Size of an import request", size(bounds.importBodyBytesMax)],
  ["body", "Size of any other request", size(bounds.bodyBytesMax)],
  ["waiting-leases", "Leases that wait at once", count(engineLimits.waitingLeasesMax)],
  ["timeouts", "Longest `lease_timeout` and `expire_timeout`, except `never`", `${daysMax} days`],
  ["shards", "Shards of one server", count(engineLimits.shardsMax)],
].map(([id = "", what = "", value = ""]) => ({ id, what, value }));

interface CommandRow {
  /** `queues create`. */
  readonly name: string;
  readonly usage: string;
  readonly meaning: string;
  readonly words: readonly CommandWord[];
}

/** An argument or a flag. */
interface CommandWord {
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

/** Commands with an action, in the order of `--help`. */
function rowsOf(parent: Command, path: string): readonly CommandRow[] {
  return help.visibleCommands(parent).flatMap((command): readonly CommandRow[] => {
    const name = `${path}${command.name()}`;
    if (command.name() === "help") return [];
    const { commands: inner, registeredArguments: given, options } = command;
    const isGroup = inner.length > 0 && given.length === 0 && options.length === 0;
    if (isGroup) return rowsOf(command, `${name} `);
    const words = help.visibleArguments(command).map((argument) => ({
      word: argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      meaning: help.argumentDescription(argument),
    }));
    // The flags of `serve` are the settings, which have their own page.
    const flags = name === "serve" ? [] : flagsOf(command);
    return [
      {
        name,
        usage: `holdfast ${name} ${command.usage()}`,
        meaning: command.description(),
        words: [...words, ...flags],
      },
      ...rowsOf(command, `${name} `),
    ];
  });
}

export const commands: readonly CommandRow[] = rowsOf(program, "");
export const sharedFlags: readonly CommandWord[] = flagsOf(program);
