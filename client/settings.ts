// Compares requested settings with those of a queue.

import type { QueueCreateRequest, QueueInfo } from "./wire.ts";

export type QueueSettings = Omit<QueueCreateRequest, "queue_name">;

/** Settings in which an existing queue differs from the requested ones, by name; empty = none. */
export type Differences = {
  readonly [Name in keyof QueueSettings & keyof QueueInfo]?: {
    readonly requested: unknown;
    readonly actual: unknown;
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
  "priority_aging",
  "waiting_max",
  "retry_backoff",
  "grouped",
  "group_leased_max",
  "group_rate",
  "group_waiting_max",
  "group_order",
  "group_on_dead",
] as const;

/** Settings that are not requested are ignored. */
export function differencesOf(settings: Partial<QueueSettings>, info: QueueInfo): Differences {
  const differing = names.filter((name) => {
    const requested = settings[name];
    return (
      requested != null && requested !== info[name] && !isSame(`${requested}`, `${info[name]}`)
    );
  });
  return Object.fromEntries(
    differing.map((name) => [name, { requested: settings[name], actual: info[name] }]),
  );
}

/** The server returns durations and rates as written: `60m` is `1h`, `9/1s` is `9/1000ms`. */
function isSame(one: string, other: string): boolean {
  const [ofOne, ofOther] = [one, other].map((text) => {
    const [, count = "", duration = ""] = /^(?:(\d+)\/)?(.+)$/.exec(text) ?? [];
    return { count: Number(count), ms: durationMs(duration) };
  });
  return ofOne?.ms != null && ofOne.ms === ofOther?.ms && ofOne.count === ofOther.count;
}

const unitNs: Readonly<Record<string, number>> = {
  d: 86_400e9,
  h: 3_600e9,
  m: 60e9,
  s: 1e9,
  ms: 1e6,
  us: 1e3,
  "\u00b5s": 1e3, // micro sign
  "\u03bcs": 1e3, // Greek mu
  ns: 1,
};

/** Rounded up to whole milliseconds, like the server does; `null` = not a duration. */
function durationMs(text: string): number | null {
  if (!/^([\d.]+([mun\u00b5\u03bc]?s|[mhd]))+$/.test(text)) return null;
  const parts = text.matchAll(/([\d.]+)([^\d.]+)/g);
  const ns = [...parts].reduce(
    (sum, [, count, unit = ""]) => sum + Math.round(Number(count) * Number(unitNs[unit])),
    0,
  );
  return Math.ceil(ns / 1e6);
}
