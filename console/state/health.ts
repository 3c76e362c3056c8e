// The words of health, the worst first, with their glyphs.

import type { GlyphName } from "../components/glyph/glyph-paths.ts";

export type Tone = "bad" | "warn" | "info" | "ok";

interface HealthWording {
  readonly text: string;
  readonly glyph: GlyphName;
  readonly tone: Tone;
  /** Its detail: how long it has lasted, a count, or when it may change by itself. */
  readonly detail: "since" | "count" | "next" | "nothing";
}

const words = {
  shard_down: { text: "shard down", glyph: "down", tone: "bad", detail: "since" },
  store_full: { text: "store full", glyph: "full", tone: "bad", detail: "since" },
  no_consumers: { text: "no consumers", glyph: "noConsumers", tone: "warn", detail: "since" },
  backlog_growing: { text: "backlog growing", glyph: "behind", tone: "warn", detail: "count" },
  leases_lapsing: { text: "leases lapsing", glyph: "lapse", tone: "warn", detail: "count" },
  dead_items: { text: "dead items", glyph: "dead", tone: "warn", detail: "count" },
  groups_blocked: { text: "groups blocked", glyph: "paused", tone: "warn", detail: "count" },
  clearing: { text: "clearing", glyph: "clear", tone: "info", detail: "count" },
  paused: { text: "paused", glyph: "paused", tone: "info", detail: "since" },
  at_limit: { text: "at its limit", glyph: "max", tone: "info", detail: "since" },
  all_leased: { text: "all leased", glyph: "leased", tone: "info", detail: "next" },
  all_scheduled: { text: "all scheduled", glyph: "scheduled", tone: "info", detail: "next" },
  flows: { text: "flows", glyph: "flows", tone: "ok", detail: "nothing" },
  idle: { text: "idle", glyph: "idle", tone: "ok", detail: "nothing" },
  empty: { text: "empty", glyph: "idle", tone: "ok", detail: "nothing" },
} as const satisfies Record<string, HealthWording>;

const order = Object.keys(words);

/** A newer server may have more words, which are shown as they are. */
export function wordOf(health: string): HealthWording {
  if (health in words) return words[health as keyof typeof words];
  return { text: health.replaceAll("_", " "), glyph: "note", tone: "info", detail: "since" };
}

/** 0 is the worst. */
export function severityOf(health: string): number {
  const at = order.indexOf(health);
  return at === -1 ? order.indexOf("clearing") : at;
}

export function isTrouble(health: string): boolean {
  const { tone } = wordOf(health);
  return tone === "bad" || tone === "warn";
}
