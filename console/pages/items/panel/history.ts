// What happened to an item, as it is told: the newest first, and what happened in one lease
// together. Pure.

import type { ItemEvent } from "../../../../openapi/schemas.ts";
import type { GlyphName } from "../../../components/glyph-paths.ts";

export interface Held {
  readonly what: "held";
  /** How the lease ended; `open`: it runs. */
  readonly end: "open" | "lapsed" | "retried" | "done";
  /** The newest first. */
  readonly events: readonly ItemEvent[];
}

export interface Apart {
  readonly what: "apart";
  readonly event: ItemEvent;
}

const ends: Readonly<Record<string, Held["end"]>> = {
  completed: "done",
  retried: "retried",
  released: "done",
  lapsed: "lapsed",
  expired: "lapsed",
  rejected: "retried",
  dead: "retried",
  discarded: "retried",
  removed: "done",
};

export function runsOf(history: readonly ItemEvent[]): readonly (Held | Apart)[] {
  const runs: (Held | Apart)[] = [];
  let open: ItemEvent[] | null = null;
  const close = (end: Held["end"]) => {
    if (open !== null) runs.push({ what: "held", end, events: open.toReversed() });
    open = null;
  };
  for (const event of history) {
    if (event.what === "leased") {
      close("open");
      open = [event];
      continue;
    }
    if (open === null) {
      runs.push({ what: "apart", event });
      continue;
    }
    open.push(event);
    const end = ends[event.what];
    if (end !== undefined) close(end);
    else if (event.what !== "extended") close("done");
  }
  close("open");
  return runs.toReversed();
}

interface Told {
  readonly glyph: GlyphName;
  readonly text: string;
}

const words: Readonly<Record<string, Told>> = {
  produced: { glyph: "in", text: "produced" },
  imported: { glyph: "in", text: "imported" },
  due: { glyph: "ready", text: "due: its time came" },
  leased: { glyph: "leased", text: "leased" },
  extended: { glyph: "leased", text: "lease extended" },
  completed: { glyph: "done", text: "completed" },
  retried: { glyph: "retry", text: "given back" },
  released: { glyph: "ready", text: "given back untried" },
  lapsed: { glyph: "lapse", text: "lease lapsed" },
  expired: { glyph: "age", text: "expired" },
  dead: { glyph: "dead", text: "came into the dead queue" },
  discarded: { glyph: "dead", text: "discarded: there was no dead queue" },
  redriven: { glyph: "out", text: "redriven: left the dead queue" },
  returned: { glyph: "in", text: "came back from the dead queue" },
  promoted: { glyph: "ready", text: "made ready before its time" },
  rejected: { glyph: "dead", text: "given up by who runs the queue" },
  removed: { glyph: "clear", text: "removed" },
  damaged: { glyph: "down", text: "damaged" },
};

/** More may come: one that is not known is said as it came. */
export function toldOf(what: string): Told {
  return words[what] ?? { glyph: "note", text: what.replaceAll("_", " ") };
}
