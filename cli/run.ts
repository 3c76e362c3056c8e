// Runs every command except `serve`, and returns a code of `exit-codes.ts`. Errors are printed in
// one or two lines, never as a stack.

import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { type Command, CommanderError } from "commander";
import { HoldfastError, RequestFailed } from "../client/errors.ts";
import { exitCodeOf, exitCodes, fileFaultOf, UsageError } from "./exit-codes.ts";
import { Interrupted } from "./interrupt.ts";
import { createProgram, usageOf } from "./program.ts";

/** Resolves with the exit code. */
export async function run(words: readonly string[]): Promise<number> {
  // A reader such as `head` may close the pipe early.
  process.stdout.on("error", (error: Error & { code?: string }) => {
    process.exit(error.code === "EPIPE" ? exitCodes.ok.code : exitCodes.bug.code);
  });
  const isJson = words.includes("--json");
  const program = createProgram({ isJson });
  let running: Command | null = null;
  program.hook("preAction", (_, command) => {
    running = command;
  });
  try {
    checkArguments(words);
    await program.parseAsync(words, { from: "user" });
    return exitCodes.ok.code;
  } catch (caught) {
    if (caught instanceof CommanderError) {
      if (caught.exitCode === 0) return exitCodes.ok.code;
      // Without `--json`, commander has printed the error.
      if (isJson) process.stderr.write(`${errorAsJson(usageErrorOf(caught))}\n`);
      return exitCodes.usage.code;
    }
    // Open input would keep the process running.
    if (caught instanceof Interrupted) return process.exit(exitCodes.interrupted.code);
    const error = fileFaultOf(caught) ?? caught;
    process.stderr.write(`${isJson ? errorAsJson(error) : formatError(error, running)}\n`);
    return exitCodeOf(error);
  }
}

/** The runtime replaces bytes that are not UTF-8. Only Linux exposes the original bytes. */
function checkArguments(words: readonly string[]): void {
  const raw = "/proc/self/cmdline";
  if (!words.some((word) => word.includes("\ufffd")) || !existsSync(raw)) return;
  const given = Buffer.from(readFileSync(raw)).toString("latin1").split("\0").slice(0, -1);
  for (const [index, bytes] of given.slice(-words.length).entries()) {
    if (isUtf8(Buffer.from(bytes, "latin1"))) continue;
    const got = words[index]?.slice(0, 60);
    throw new UsageError(`argument ${index + 1} is not valid UTF-8; got '${got}'`);
  }
}

function usageErrorOf({ code, message }: CommanderError): UsageError {
  if (code === "commander.help")
    return new UsageError("command is missing; expected one of --help");
  return new UsageError(message.replace(/^error: /, "").replaceAll("\n", " "));
}

/** Adds the codes `usage` and `bug` to those of the client. */
function errorAsJson(error: unknown): string {
  const message = messageOf(error);
  if (!(error instanceof HoldfastError)) {
    return JSON.stringify({ code: error instanceof UsageError ? "usage" : "bug", message });
  }
  const { code, status, operation } = error;
  const details = error instanceof RequestFailed ? { details: error.details } : {};
  return JSON.stringify({ code, status, operation, message, ...details });
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const mayBeDone = error instanceof HoldfastError && error.followsUnknown;
  return mayBeDone
    ? `${error.message}; an attempt without an answer may have done it`
    : error.message;
}

function formatError(error: unknown, running: Command | null): string {
  const message = messageOf(error);
  if (error instanceof UsageError) {
    return running === null ? `error: ${message}` : `error: ${message}\n${usageOf(running)}`;
  }
  if (error instanceof RequestFailed && error.ids.length > 0) {
    return [`error: ${message}`, ...error.ids.map((id) => `  ${id}: ${error.details[id]}`)].join(
      "\n",
    );
  }
  return error instanceof HoldfastError ? `error: ${message}` : `error: a bug; ${message}`;
}
