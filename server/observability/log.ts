// The server's log: one JSON object per line and event, on standard error; standard output has only
// the lines for people at the start. Created once per process.

import pino, { type Level } from "pino";

/** What an event may say of itself: names, ids, counts and times, never a payload or a secret. */
export type LogFields = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

/** `event` is a short constant text; what varies goes into `fields`. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** `cause` is logged with its stack, and with the causes behind it. */
  error(event: string, cause: unknown, fields?: LogFields): void;
  /** For what ends the process. */
  fatal(event: string, cause: unknown, fields?: LogFields): void;
}

export interface LogOptions {
  readonly level: Level;
  /** Takes a whole line, its end included; standard error when absent. */
  readonly write?: (line: string) => void;
}

export function createLog({ level, write }: LogOptions): Log {
  const logger = pino(
    {
      level,
      messageKey: "event",
      // The process and host are known to whatever collects the lines.
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { cause: causeFields },
      // Code names the fields, but a mistake must not put a user's data on disk.
      redact: { paths: ["payload", "bytes", "utf8", "authorization"], remove: true },
    },
    // Synchronous: the last line before the process ends is the one that matters.
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
 * Name, message and stack only: a store's or a parser's error may carry the data
 * it failed on among its own properties.
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
