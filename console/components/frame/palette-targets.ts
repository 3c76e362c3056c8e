// The targets of the command palette: pages, queues by name, an item by its id.

import { itemAddress, pages, queueAddress } from "../../addresses.ts";
import { countText } from "../../format.ts";
import { wordOf } from "../../state/health.ts";
import type { QueueRow } from "../../state/overview-state.ts";
import type { GlyphName } from "../glyph/glyph-paths.ts";

export interface Target {
  readonly to: string;
  readonly glyph: GlyphName;
  readonly name: string;
  readonly detail: string;
  readonly what: "page" | "queue" | "item";
}

const targetsMax = 12;
const itemId = /^[0-9A-Za-z]{27}$/;

export function targetsFor(text: string, queues: Iterable<QueueRow>): readonly Target[] {
  const wanted = text.trim().toLowerCase();
  const found: Target[] = itemId.test(text.trim()) ? [itemTarget(text.trim())] : [];
  for (const { path, title } of pages) {
    if (!title.toLowerCase().includes(wanted)) continue;
    found.push({ to: path, glyph: "note", name: title, detail: "", what: "page" });
  }
  const [first, others]: [Target[], Target[]] = [[], []];
  for (const row of queues) {
    const at = wanted === "" ? 0 : row.queue_name.toLowerCase().indexOf(wanted);
    if (at !== -1) (at === 0 ? first : others).push(queueTarget(row));
    if (first.length === targetsMax) break;
  }
  const rows = [...first, ...others];
  return (wanted === "" ? [...found, ...rows] : [...rows, ...found]).slice(0, targetsMax);
}

function itemTarget(id: string): Target {
  return {
    to: itemAddress(id),
    glyph: "ready",
    name: id,
    detail: "searched for in every queue",
    what: "item",
  };
}

function queueTarget({ queue_name: name, health, ready }: QueueRow): Target {
  const { text, glyph } = wordOf(health);
  return {
    to: queueAddress(name),
    glyph,
    name,
    detail: `${text}, ${countText(ready)} ready`,
    what: "queue",
  };
}
