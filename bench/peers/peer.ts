// A peer: another queue that a user might choose, reduced to the steps of the benchmark. Each peer
// is one file that implements this interface; `measure.ts` drives it.

/**
 * What an answer promises. `D2`: the effect was synced to disk first, and survives a power cut. `D2
 * produce`: this holds for a produce, but a completion is not synced, or not even confirmed. Queues
 * that sync nothing are not measured: they do different work.
 */
export type DurabilityClass = "D2" | "D2 produce";

export const durabilityTexts: Readonly<Record<DurabilityClass, string>> = {
  D2: "synced to the disk before every answer",
  "D2 produce": "only produce is synced before its answer",
};

export interface Peer {
  /** The name in the tables, and for `--only`. */
  readonly name: string;
  readonly durability: DurabilityClass;
  /** Settings for durability and speed, and the mapping of the work to the peer's calls. */
  readonly settings: string;
  /** What a reader must know to judge the figures fairly; `""` = nothing. */
  readonly caveat: string;
  /** The fastest number of connections for the peer, with `itemsPerCall` items per call. */
  connections(itemsPerCall: number): number;
  /** Installs everything that `start` needs, once per run. `scratch` is kept until the run ends. */
  install(scratch: string): Promise<void>;
  /** Called once per round, on an empty folder that is removed after `stop`. */
  start(scratch: string): Promise<RunningPeer>;
}

export interface RunningPeer {
  readonly version: string;
  /** Set by peers that store items in PostgreSQL. */
  readonly databaseUrl?: string;
  /** Creates a queue with that name and the sessions that work on it. */
  open(work: QueueWork): Promise<readonly Session[]>;
  stop(): Promise<void>;
}

export interface QueueWork {
  readonly queue: string;
  readonly connections: number;
  readonly itemsPerCall: number;
}

/** One client, with one call at a time; the sessions of a queue work concurrently. */
export interface Session {
  /** One call with all payloads; resolves once the peer has confirmed every one. */
  produce(payloads: readonly string[]): Promise<void>;
  /** Leases, records and completes items until the ledger wants no more. */
  consume(ledger: Ledger): Promise<void>;
  close(): Promise<void>;
}

const payloadBytes = 100;
const numberDigits = 12;
const filler = "x".repeat(payloadBytes - numberDigits);

/** A payload of 100 bytes that starts with its number, so that a consumer can identify it. */
export function payloadOf(number: number): string {
  return String(number).padStart(numberDigits, "0") + filler;
}

export function numberOf(payload: string): number {
  return Number(payload.slice(0, numberDigits));
}

/**
 * The items that consumers received so far. It counts the received payloads, and throws when one
 * arrives twice or was never produced.
 */
export class Ledger {
  readonly #seen: Uint8Array;
  readonly #deadline: number;
  readonly #allLeased = Promise.withResolvers<void>();
  readonly #timer: Timer;
  #leasedCount = 0;
  #completedCount = 0;
  #finishedAt: number | null = null;

  /** `deadline` is an instant of `performance.now()`. */
  constructor(itemCount: number, deadline: number) {
    this.#seen = new Uint8Array(itemCount);
    this.#deadline = deadline;
    this.#timer = setTimeout(() => this.#allLeased.resolve(), deadline - performance.now());
  }

  /** Whether items and time are left. */
  get wanted(): boolean {
    return this.#leasedCount < this.#seen.length && performance.now() < this.#deadline;
  }

  /** Resolves once nothing more is wanted; for peers that push items. */
  get allLeased(): Promise<void> {
    return this.#allLeased.promise;
  }

  get completedCount(): number {
    return this.#completedCount;
  }

  get complete(): boolean {
    return this.#completedCount === this.#seen.length;
  }

  /** When the last item was completed; `null` before that. */
  get finishedAt(): number | null {
    return this.#finishedAt;
  }

  leased(payload: string): void {
    const number = numberOf(payload);
    if (!(number < this.#seen.length)) {
      throw new Error(`an unknown item was delivered; ${payload.slice(0, 40)}`);
    }
    if (this.#seen[number] !== 0) throw new Error(`an item was delivered twice; number ${number}`);
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

/**
 * Pause of a consumer whose lease was empty although items are left: another consumer holds them.
 */
const emptyRestMs = 1;

/** `consume` for a peer with pull: leases, records, completes, and repeats. */
export async function leaseAndComplete<Lease>(
  ledger: Ledger,
  calls: {
    /** `null` = no items at the moment. */
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

/** 64 callers keep a peer busy at one item per call; with larger calls, 8 do. */
export function usualConnections(itemsPerCall: number): number {
  return itemsPerCall === 1 ? 64 : 8;
}

/**
 * For peers that share a sync among callers, and so still gain from 64 callers at 100 items per
 * call.
 */
export function manyConnections(itemsPerCall: number): number {
  return itemsPerCall <= 100 ? 64 : 8;
}
