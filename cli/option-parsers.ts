// Parses the values of options. Each parser throws an error that commander shows with the flag.

import { InvalidArgumentError, Option } from "commander";
import type { Client } from "../client/client.ts";
import { NotAuthorized } from "../client/errors.ts";
import { parseDuration } from "../engine/model/duration.ts";
import { bounds } from "../openapi/bounds.ts";

const intervalMsMin = 10;

/** A duration such as `30s`, in milliseconds. */
export function durationMs(text: string): number {
  const parsed = parseDuration(text);
  if (!parsed.ok)
    throw new InvalidArgumentError(`expected a duration such as 30s; ${parsed.message}`);
  return parsed.ms;
}

/** The interval between two calls, with a minimum to limit the load. */
export function intervalMs(text: string): number {
  const ms = durationMs(text);
  if (ms >= intervalMsMin) return ms;
  throw new InvalidArgumentError(`expected a duration from ${intervalMsMin}ms, got '${text}'`);
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}, got '${text}'`);
  };
}

export function priorityOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser(wholeNumber(0, bounds.priorityMax));
}

/** An instant, or milliseconds from now, negative for the past. */
export type When = Date | number;

/** A date-time, or a duration from now. */
export function instant(text: string): When {
  return whenOf(text, { sign: 1, relation: "from now" });
}

/** A date-time, or how long ago. */
export function pastInstant(text: string): When {
  return whenOf(text, { sign: -1, relation: "before now" });
}

function whenOf(
  text: string,
  { sign, relation }: { readonly sign: number; readonly relation: string },
): When {
  const parsed = parseDuration(text);
  if (parsed.ok) return sign * parsed.ms;
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError(
    `expected a date-time such as 2026-03-01T12:00:00Z, or a duration ${relation} such as 15m, got '${text}'`,
  );
}

/**
 * Converts to a date-time, relative to the clock of the server. Falls back to the clock of this
 * machine if the API key may not read the server's.
 */
export async function dateTimeOf(when: When, client: Pick<Client, "overview">): Promise<string> {
  if (when instanceof Date) return when.toISOString();
  const now = await client.overview().then(
    (overview) => Date.parse(overview.now),
    (error: unknown) => {
      if (error instanceof NotAuthorized) return Date.now();
      throw error;
    },
  );
  return new Date(now + when).toISOString();
}

export function priorityMinOption(): Option {
  return priorityOption("--priority-min <number>", "only items of this priority or a higher one");
}

/** The text is sent unchanged; the server validates it. */
export function leaseTimeoutOption(): Option {
  const meaning = "how long the items are held; by default the lease timeout of the queue";
  return new Option("-t, --lease-timeout <duration>", meaning);
}

export function list(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** Adds `name=value` to the headers given before. */
export function header(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf("=");
  if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  throw new InvalidArgumentError(`expected a name and a value such as tenant=acme, got '${text}'`);
}
