// The status of a queue in one sentence, and what happens next.

import type { QueueClientsReply, QueueExplainReply } from "../../../openapi/schemas.ts";
import { plural, rateText } from "../../format.ts";
import { wordOf } from "../../state/health.ts";
import type { QueueRow, Rates } from "../../state/overview-state.ts";

export interface WhySources {
  readonly explain: QueueExplainReply;
  readonly clients: QueueClientsReply | undefined;
  readonly row: QueueRow | undefined;
  readonly rates: Rates;
}

/** The word of a finding; those of the two limits share one. */
export function findingWord(kind: string) {
  return wordOf(kind.startsWith("at_") ? "at_limit" : kind);
}

/** Whether items died recently and are still dead. */
export function isDyingNow(explain: QueueExplainReply | undefined, count = 0): boolean {
  return count > 0 && (explain?.findings.some(({ kind }) => kind === "dead_items") ?? false);
}

/** A pause comes first, before any other finding. */
export function findingsOf(explain: QueueExplainReply) {
  const paused = explain.findings.find(({ kind }) => kind === "paused");
  return { paused, others: explain.findings.filter((finding) => finding !== paused) };
}

/** `lead`: `""` = the pause is all. */
export interface Sentence {
  readonly lead: string;
  readonly text: string;
}

export function sentenceOf({ explain, clients, row, rates }: WhySources): Sentence {
  const { paused, others } = findingsOf(explain);
  const worst = others[0];
  if (worst === undefined && paused !== undefined) return { lead: "", text: "" };
  if (worst !== undefined) {
    return { lead: `${capital(findingWord(worst.kind).text)}.`, text: worst.text };
  }
  const waiting = clients?.waiting_count ?? row?.waiting_leases ?? 0;
  const clientsText =
    waiting === 0 ? "no client waits" : plural(waiting, "client waits", "clients wait");
  if (explain.health === "empty")
    return { lead: "Empty.", text: "No item waits, and no client waits." };
  if (explain.health === "idle")
    return { lead: "Idle.", text: `Nothing waits, and ${clientsText}.` };
  if (explain.health === "flows" && waiting === 0 && row?.leased === 0 && !rates.out) {
    const ready = plural(row.ready, "item is", "items are");
    return {
      lead: "Nothing moves.",
      text: `${ready} ready and no client waits, as expected for a dead queue.`,
    };
  }
  const lead = explain.health === "flows" ? "It flows." : `${capital(explain.health)}.`;
  return { lead, text: capital(`${[...movesOf(rates, row), `and ${clientsText}`].join(", ")}.`) };
}

function* movesOf({ out }: Rates, row: QueueRow | undefined): Generator<string> {
  // A rate takes two looks.
  if (out !== null) yield `${rateText(out)} items per second are completed`;
  if (row?.ready === 0) yield "nothing is ready";
  else if (row !== undefined) yield `${plural(row.ready, "is", "are")} ready`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1).replaceAll("_", " ");
}

export interface Coming {
  readonly what: string;
  readonly atMs: number;
}

/** Events that need no call, the nearest first. */
export function comingOf({ explain, clients, row }: WhySources, nowMs: number): readonly Coming[] {
  const coming: Coming[] = [];
  const [worst] = findingsOf(explain).others;
  if (worst?.next_at) coming.push({ what: nextWords(worst.kind), atMs: Date.parse(worst.next_at) });
  const lapse = (clients?.holding ?? [])
    .map(({ client_id: client, next_lapse_at: at }) => ({ client, atMs: Date.parse(at) }))
    .toSorted((a, b) => a.atMs - b.atMs)[0];
  if (lapse !== undefined && worst?.kind !== "all_leased") {
    coming.push({ what: `a lease of ${lapse.client || "a client"} lapses`, atMs: lapse.atMs });
  }
  const dueMs = row?.next_due_at_ms ?? 0;
  if (dueMs > 0 && worst?.kind !== "all_scheduled") {
    coming.push({ what: "a scheduled item falls due", atMs: dueMs });
  }
  return coming
    .filter(({ atMs }) => atMs > nowMs)
    .toSorted((a, b) => a.atMs - b.atMs)
    .slice(0, 2);
}

function nextWords(kind: string): string {
  switch (kind) {
    case "shard_down":
      return "the shard is started again";
    case "at_lease_rate":
      return "the rate allows more";
    case "all_scheduled":
      return "a scheduled item falls due";
    default:
      return "a lease lapses";
  }
}
