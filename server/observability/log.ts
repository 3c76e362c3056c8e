// The server's log: one line with a JSON object per event, on standard error. Standard output has
// only the lines for people at the start. Created once per process.

import pino, { type Level } from "pino";

/** Fields of an event: names, ids, counts and times, never a payload or a secret. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

/** `event` is a short constant text; variable values go into `fields`. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** `cause` is logged with its stack and its own causes. */
  error(event: string, cause: unknown, fields?: LogFields): void;
  /** For errors that end the process. */
  fatal(event: string, cause: unknown, fields?: LogFields): void;
}

export interface LogOptions {
  readonly level: Level;
  /** Receives a whole line with its line break; absent = standard error. */
  readonly write?: (line: string) => void;
}

export function createLog({ level, write }: LogOptions): Log {
  const logger = pino(
    {
      level,
      messageKey: "event",
      // The program that collects the lines knows the process and the host.
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { cause: causeFields },
      // The code chooses the fields, but a mistake must not write a user's data to disk.
      redact: { paths: ["payload", "bytes", "utf8", "authorization"], remove: true },
    },
    // Synchronous: the last line before the process ends matters most.
    write === undefined ? pino.destination({ dest: 2, sync: true }) : { write },
  );
  return {
    debug: (event, fields) => logger.debug(fields ?? {}, event),
    info: (event, fields) => logger.info(fields ?? {}, event),
    warn: (event, fields) => logger.warn(fields ?? {}, event),
    error: (event, cause, fields) => logger.error({ ...fields, cause }, event),
    fatal: (event, cause, fields) => logger.fatal({ ...fields, cause }, event),
  };
}

/**
 * Only name, message, stack and code: other properties of a store's or a parser's error may contain
 * the data on which it failed.
 */
function causeFields(cause: unknown): unknown {
  if (!(cause instanceof Error)) return { message: String(cause) };
  const { name, message, stack } = cause;
  return {
    name,
    message,
    stack,
    ...("code" in cause && { code: String(cause.code) }),
    ...(cause.cause !== undefined && { cause: causeFields(cause.cause) }),
  };
}
