// What a peer is: a queue that a user might pick instead, seen as the few steps of the
// benchmark's work. Each peer is one file that implements this; `measure.ts` drives it.

/**
 * What an answer promises. `D2`: it was synced to the disk first, and survives a power cut.
 * `D2 produce`: so is a produce, but a completion is not, or is not confirmed at all. What syncs
 * nothing is not measured: it does other work.
 */
export type DurabilityClass = "D2" | "D2 produce";

export const durabilityTexts: Readonly<Record<DurabilityClass, string>> = {
  D2: "synced to the disk before every answer",
  "D2 produce": "only produce is synced before its answer",
};

export interface Peer {
  /** As in the tables, and for `--only`. */
  readonly name: string;
  readonly durability: DurabilityClass;
  /** What was set for durability and speed, and how the work maps to the peer's calls. */
  readonly settings: string;
  /** What a reader must know to judge the figures fairly; `""` when nothing. */
  readonly caveat: string;
  /** Connections that serve the peer best; `itemsPerCall` items go in each call. */
  connections(itemsPerCall: number): number;
  /** Once a run: everything `start` needs. `scratch` is kept until the run ends. */
  install(scratch: string): Promise<void>;
  /** Once a round, on an empty folder that is removed after `stop`. */
  start(scratch: string): Promise<RunningPeer>;
}

export interface RunningPeer {
  readonly version: string;
  /** Of those that keep items in PostgreSQL. */
  readonly databaseUrl?: string;
  /** Makes a queue of that name and the sessions that will work on it. */
  open(work: QueueWork): Promise<readonly Session[]>;
  stop(): Promise<void>;
}

export interface QueueWork {
  readonly queue: string;
  readonly connections: number;
  readonly itemsPerCall: number;
}

/** One client. It is asked for one thing at a time; the sessions of a queue work side by side. */
export interface Session {
  /** One call with all the payloads; resolves once the peer has confirmed every one. */
  produce(payloads: readonly string[]): Promise<void>;
  /** Leases, notes and completes until the ledger wants no more. */
  consume(ledger: Ledger): Promise<void>;
  close(): Promise<void>;
}

const payloadBytes = 100;
const numberDigits = 12;
const filler = "x".repeat(payloadBytes - numberDigits);

/** A payload of 100 bytes that starts with its number, so that a consumer can tell which it is. */
export function payloadOf(number: number): string {
  return String(number).padStart(numberDigits, "0") + filler;
}

/**
 * What the consumers have got so far. It counts from the payloads that really arrived, and
 * throws when one arrives twice or was never produced.
 */
export class Ledger {
  readonly #seen: Uint8Array;
  readonly #deadline: number;
  readonly #allLeased = Promise.withResolvers<void>();
  readonly #timer: Timer;
  #leasedCount = 0;
  #completedCount = 0;
  #finishedAt: number | null = null;

  /** `deadline` as of `performance.now()`. */
  constructor(itemCount: number, deadline: number) {
    this.#seen = new Uint8Array(itemCount);
    this.#deadline = deadline;
    this.#timer = setTimeout(() => this.#allLeased.resolve(), deadline - performance.now());
  }

  /** Whether there is something left to lease, and time to. */
  get wanted(): boolean {
    return this.#leasedCount < this.#seen.length && performance.now() < this.#deadline;
  }

  /** Resolves once nothing more is wanted; for peers that push. */
  get allLeased(): Promise<void> {
    return this.#allLeased.promise;
  }

  get completedCount(): number {
    return this.#completedCount;
  }

  get complete(): boolean {
    return this.#completedCount === this.#seen.length;
  }

  /** When the last item was completed; `null` before. */
  get finishedAt(): number | null {
    return this.#finishedAt;
  }

  leased(payload: string): void {
    const number = Number(payload.slice(0, numberDigits));
    if (!(number < this.#seen.length)) {
      throw new Error(`an item came that was not produced; ${payload.slice(0, 40)}`);
    }
    if (this.#seen[number] !== 0) throw new Error(`an item came twice; number ${number}`);
    this.#seen[number] = 1;
    this.#leasedCount += 1;
    if (this.#leasedCount === this.#seen.length) this.close();
  }

  completed(count: number): void {
    this.#completedCount += count;
    if (this.complete) this.#finishedAt = performance.now();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#allLeased.resolve();
  }
}

/** How long a consumer rests that found nothing although something is left: another has it. */
const emptyRestMs = 1;

/** `consume` for a peer that is asked for items: lease, note, complete, again. */
export async function leaseAndComplete<Lease>(
  ledger: Ledger,
  calls: {
    /** `null` when there is nothing at the moment. */
    readonly lease: () => Promise<Lease | null>;
    readonly payloads: (lease: Lease) => readonly string[];
    readonly complete: (lease: Lease) => Promise<void>;
  },
): Promise<void> {
  while (ledger.wanted) {
    const lease = await calls.lease();
    if (lease === null) {
      await Bun.sleep(emptyRestMs);
      continue;
    }
    const payloads = calls.payloads(lease);
    for (const payload of payloads) ledger.leased(payload);
    await calls.complete(lease);
    ledger.completed(payloads.length);
  }
}

/** 64 callers keep a peer busy that takes one item a call; with larger calls 8 do. */
export function usualConnections(itemsPerCall: number): number {
  return itemsPerCall === 1 ? 64 : 8;
}

/** For peers that share a sync among callers, and so still gain from 64 with 100 items a call. */
export function manyConnections(itemsPerCall: number): number {
  return itemsPerCall <= 100 ? 64 : 8;
}
