// What stands behind a flag, from text to value: each throws what commander shows with the
// flag's name.

import { InvalidArgumentError, Option } from "commander";
import type { Client } from "../client/client.ts";
import { NotAuthorized } from "../client/errors.ts";
import { parseDuration } from "../engine/model/duration.ts";

const intervalMsMin = 10;

/** A duration such as `30s`, in milliseconds. */
export function durationMs(text: string): number {
  const parsed = parseDuration(text);
  if (!parsed.ok)
    throw new InvalidArgumentError(`expected a duration such as 30s; ${parsed.message}`);
  return parsed.ms;
}

/** A pause between two calls; without one, they would be a load. */
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

/** An instant, or how many milliseconds from now; before now, they are negative. */
export type When = Date | number;

/** A date-time, or a duration from now. */
export function instant(text: string): When {
  return whenOf(text, { sign: 1, told: "from now" });
}

/** A date-time, or how long ago. */
export function pastInstant(text: string): When {
  return whenOf(text, { sign: -1, told: "before now" });
}

function whenOf(
  text: string,
  { sign, told }: { readonly sign: number; readonly told: string },
): When {
  const parsed = parseDuration(text);
  if (parsed.ok) return sign * parsed.ms;
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError(
    `expected a date-time such as 2026-03-01T12:00:00Z, or a duration ${told} such as 15m, got '${text}'`,
  );
}

/**
 * As a date-time. "Now" is the server's, whose clock the items go by; a key that may not ask for it
 * has to do with the clock of this machine.
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

/** As it is written: what it may be is the server's to say. */
export function leaseTimeoutOption(): Option {
  const meaning = "how long they are held; as long as the queue says unless told";
  return new Option("-t, --lease-timeout <duration>", meaning);
}

export function list(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** `name=value`, beside those that were given before. */
export function header(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf("=");
  if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  throw new InvalidArgumentError(`expected a name and a value such as tenant=acme, got '${text}'`);
}
