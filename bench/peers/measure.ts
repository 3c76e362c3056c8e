// Measures one cell of the tables: produce, then lease and complete, on one queue of one peer, each
// phase bounded in time.

import { cpuSecondsBelow } from "../../testing/process-usage.ts";
import { Ledger, payloadOf, type RunningPeer, type Session } from "./peer.ts";

export interface CellWork {
  readonly queue: string;
  readonly itemsPerCall: number;
  readonly connections: number;
  /** Fewer are produced if the time is up first. */
  readonly items: number;
  readonly produceMs: number;
  readonly consumeMs: number;
}

export interface CellResult {
  /** Produced items, each delivered once unless `partly`. */
  readonly items: number;
  readonly producePerSecond: number;
  readonly consumePerSecond: number;
  /** Processor time per item over both phases, in microseconds, of the peer's own processes. */
  readonly serverMicros: number;
  /** The same for this process, which contains the peer's client. */
  readonly clientMicros: number;
  /** Not all items were consumed in time; the consumed ones were delivered once each. */
  readonly partly: boolean;
}

/** Additional time of a phase, for calls in flight. */
const graceMs = 12_000;

/** A peer that stops answering must not stop the run. */
async function within<T>(milliseconds: number, what: string, work: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} took more than ${Math.round(milliseconds / 1_000)} s`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Produces at most `items`, until the time is up. */
export async function produceAll(
  sessions: readonly Session[],
  work: CellWork,
): Promise<{ items: number; seconds: number }> {
  let next = 0;
  const begin = performance.now();
  const deadline = begin + work.produceMs;
  const one = async (session: Session): Promise<void> => {
    while (next < work.items && performance.now() < deadline) {
      const first = next;
      next += Math.min(work.itemsPerCall, work.items - first);
      const payloads = Array.from({ length: next - first }, (_, index) => payloadOf(first + index));
      await session.produce(payloads);
    }
  };
  await within(work.produceMs + graceMs, "produce", Promise.all(sessions.map(one)));
  return { items: next, seconds: (performance.now() - begin) / 1_000 };
}

/** Consumes until all items are completed or the time is up. */
export async function consumeAll(
  sessions: readonly Session[],
  items: number,
  work: CellWork,
): Promise<{ completed: number; perSecond: number; partly: boolean }> {
  const begin = performance.now();
  const ledger = new Ledger(items, begin + work.consumeMs);
  try {
    const all = Promise.all(sessions.map((session) => session.consume(ledger)));
    await within(work.consumeMs + graceMs, "lease and complete", all);
  } finally {
    ledger.close();
  }
  if (ledger.completedCount === 0) throw new Error("no item was completed in time");
  // The last completion counts, not the moment when the last consumer gave up.
  const end = ledger.finishedAt ?? performance.now();
  return {
    completed: ledger.completedCount,
    perSecond: ledger.completedCount / ((end - begin) / 1_000),
    partly: !ledger.complete,
  };
}

/** Processor time so far, in microseconds. */
function usage(): { readonly server: number; readonly client: number } {
  const { user, system } = process.cpuUsage();
  return { server: 1e6 * cpuSecondsBelow(process.pid), client: user + system };
}

export async function measureCell(peer: RunningPeer, work: CellWork): Promise<CellResult> {
  const sessions = await within(graceMs, "connecting", peer.open(work));
  try {
    const before = usage();
    const produced = await produceAll(sessions, work);
    const between = usage();
    const consumed = await consumeAll(sessions, produced.items, work);
    const after = usage();
    const micros = (of: "server" | "client"): number =>
      (between[of] - before[of]) / produced.items + (after[of] - between[of]) / consumed.completed;
    return {
      serverMicros: micros("server"),
      clientMicros: micros("client"),
      items: produced.items,
      producePerSecond: produced.items / produced.seconds,
      consumePerSecond: consumed.perSecond,
      partly: consumed.partly,
    };
  } finally {
    await within(
      graceMs,
      "closing",
      Promise.allSettled(sessions.map((session) => session.close())),
    );
  }
}
