// The exit codes of the commands.

import { HoldfastError, type HoldfastErrorCode } from "../client/errors.ts";

export const serveExitCodes = {
  ok: { code: 0, when: "stopped on request, or printed the requested text" },
  usage: { code: 2, when: "the command line, the configuration or the data folder is at fault" },
  taken: { code: 3, when: "another server has the data folder or the port" },
  bug: { code: 70, when: "a bug; the log has it, and stored items are safe" },
  disk: { code: 74, when: "the disk failed or had no room at the start; nothing was served" },
} as const;

/** The codes of all commands; those of `serve` only are marked. */
export const exitCodes = {
  ok: { code: 0, when: "it was done" },
  refused: { code: 1, when: "the server refused it; nothing changed" },
  usage: { code: 2, when: "the command line or its input is at fault" },
  taken: { code: serveExitCodes.taken.code, when: `serve: ${serveExitCodes.taken.when}` },
  empty: { code: 4, when: "lease: no item arrived in time" },
  unreachable: {
    code: 5,
    when: "the server is unreachable: nothing listens, its name is unknown, or it is not trusted",
  },
  unknown: {
    code: 6,
    when: "an attempt had no answer; the call may or may not have been carried out",
  },
  unauthorized: { code: 7, when: "an API key is required, or this one lacks the role" },
  unable: {
    code: 8,
    when: "the server is busy, late or stopping, or its store failed; nothing changed, try later",
  },
  bug: { code: serveExitCodes.bug.code, when: "a bug" },
  disk: { code: serveExitCodes.disk.code, when: `serve: ${serveExitCodes.disk.when}` },
  interrupted: { code: 130, when: "interrupted" },
} as const;

const exitOf: Readonly<Record<HoldfastErrorCode, keyof typeof exitCodes>> = {
  invalid: "refused",
  unauthorized: "unauthorized",
  busy: "unable",
  failed: "refused",
  empty: "empty",
  late: "unable",
  store: "unable",
  unavailable: "unable",
  unknown: "unknown",
};

/** A fault in the command line or its input. It is printed with the usage of the command. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A system error of a file is a usage error, because commands open only files of the user. */
export function fileFaultOf(error: unknown): UsageError | null {
  const isSystemError =
    error instanceof Error && "syscall" in error && !(error instanceof HoldfastError);
  if (!isSystemError) return null;
  return new UsageError(`file cannot be read or written; ${error.message}`);
}

export function exitCodeOf(error: unknown): number {
  return exitCodes[exitNameOf(error)].code;
}

function exitNameOf(error: unknown): keyof typeof exitCodes {
  if (error instanceof UsageError) return "usage";
  if (!(error instanceof HoldfastError)) return "bug";
  // An earlier attempt may have been carried out, whatever the last one returned.
  if (error.followsUnknown) return "unknown";
  const isUnreachable = error.code === "unavailable" && error.status === null;
  return isUnreachable ? "unreachable" : exitOf[error.code];
}

export function exitCodesText(codes: typeof exitCodes | typeof serveExitCodes): string {
  const rows = Object.values(codes).map(
    ({ code, when }) => `  ${String(code).padStart(3)}  ${when}`,
  );
  return ["Exit codes:", ...rows].join("\n");
}
