// The words of health, the worst first, with their glyphs.

import type { GlyphName } from "../components/glyph/glyph-paths.ts";

export type Look = "bad" | "warn" | "info" | "ok";

interface Word {
  readonly text: string;
  readonly glyph: GlyphName;
  readonly look: Look;
  /** Its detail: how long it has lasted, a count, or when it may change by itself. */
  readonly tells: "since" | "count" | "next" | "nothing";
}

const words = {
  shard_down: { text: "shard down", glyph: "down", look: "bad", tells: "since" },
  store_full: { text: "store full", glyph: "full", look: "bad", tells: "since" },
  no_consumers: { text: "no consumers", glyph: "nobody", look: "warn", tells: "since" },
  backlog_growing: { text: "backlog growing", glyph: "behind", look: "warn", tells: "count" },
  leases_lapsing: { text: "leases lapsing", glyph: "lapse", look: "warn", tells: "count" },
  dead_items: { text: "dead items", glyph: "dead", look: "warn", tells: "count" },
  clearing: { text: "clearing", glyph: "clear", look: "info", tells: "count" },
  paused: { text: "paused", glyph: "paused", look: "info", tells: "since" },
  at_limit: { text: "at its limit", glyph: "max", look: "info", tells: "since" },
  all_leased: { text: "all leased", glyph: "leased", look: "info", tells: "next" },
  all_scheduled: { text: "all scheduled", glyph: "scheduled", look: "info", tells: "next" },
  flows: { text: "flows", glyph: "flows", look: "ok", tells: "nothing" },
  idle: { text: "idle", glyph: "idle", look: "ok", tells: "nothing" },
  empty: { text: "empty", glyph: "idle", look: "ok", tells: "nothing" },
} as const satisfies Record<string, Word>;

const order = Object.keys(words);

/** A newer server may have more words, which are shown as they are. */
export function wordOf(health: string): Word {
  if (health in words) return words[health as keyof typeof words];
  return { text: health.replaceAll("_", " "), glyph: "note", look: "info", tells: "since" };
}

/** 0 is the worst. */
export function severityOf(health: string): number {
  const at = order.indexOf(health);
  return at === -1 ? order.indexOf("clearing") : at;
}

export function isTrouble(health: string): boolean {
  const { look } = wordOf(health);
  return look === "bad" || look === "warn";
}
