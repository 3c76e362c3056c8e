// What a queue is to be, beside what it is.

import type { QueueCreateRequest, QueueInfo } from "./wire.ts";

export type QueueSettings = Omit<QueueCreateRequest, "queue_name">;

/** Settings in which a queue is not what was asked for, by their names; empty = none. */
export type Differences = {
  readonly [Name in keyof QueueSettings & keyof QueueInfo]?: {
    readonly asked: unknown;
    readonly is: unknown;
  };
};

const names = [
  "dead_queue",
  "reference",
  "lease_timeout",
  "expire_timeout",
  "max_attempts",
  "requested_partitions",
  "leased_max",
  "lease_rate",
  "unique_for",
] as const;

/** Settings that were not asked for may be anything. */
export function differencesOf(settings: QueueSettings, info: QueueInfo): Differences {
  const differing = names.filter((name) => {
    const asked = settings[name];
    return asked != null && asked !== info[name] && !isSameDuration(`${asked}`, `${info[name]}`);
  });
  return Object.fromEntries(
    differing.map((name) => [name, { asked: settings[name], is: info[name] }]),
  );
}

/** The server keeps a duration as it was written: `60m` is `1h`. */
function isSameDuration(one: string, other: string): boolean {
  const ms = durationMs(one);
  return ms !== null && ms === durationMs(other);
}

const unitMs: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
};

/** `null` = it is none. */
function durationMs(text: string): number | null {
  if (!/^([\d.]+(ms|s|m|h|d))+$/.test(text)) return null;
  const parts = text.matchAll(/([\d.]+)(ms|s|m|h|d)/g);
  return [...parts].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * Number(unitMs[unit]),
    0,
  );
}
