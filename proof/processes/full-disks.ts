// Runs the real server on small disks that another program fills and empties while clients work.
// While a disk is full, new items are refused, and stored items are leased and completed, also
// after a start on the full disk. Once there is space, items are accepted again without a restart.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Random } from "../../engine/model/random.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { checkOrder } from "../checkers/check-order.ts";
import { checkQueue } from "../checkers/check-queue.ts";
import { Address, createQueues } from "../clients/clients.ts";
import { Load } from "../clients/load.ts";
import { History } from "../histories/history.ts";
import { Faults, type Log, type ProofResult, skippedResult, stopwatch } from "../result.ts";
import { type ServerChild, spawnServer } from "./server-child.ts";
import { type DiskKind, diskKinds, SmallDisk, whyNoDisk } from "./small-disk.ts";

export interface FullDiskOptions {
  readonly disks: number;
  /** How often each disk is filled. */
  readonly fills: number;
  readonly seed: number;
  readonly log: Log;
}

const method = "full disks";
const rules = { leaseTimeoutMs: 1_000, maxAttempts: 30 } as const;
const shape = { partitions: 4, ...rules };
const mebibytes = [40, 80] as const;
/** Each shard reserves 8 MiB and needs some more. */
const mebibytesPerShard = 20;
/** A larger backlog would fill the disk by itself. */
const backlogMax = 20_000;
/** Waiting items before a disk is filled, so that some can be completed. */
const waitingMin = 2_000;
/** Items completed before the disk is emptied. */
const completesMin = 40;
/** Interval at which the other program fills freed space. */
const fillAgainMsMax = 40;
const restMs = 200;
/** Twice the retry interval of an item that its target shard could not accept. */
const travelMs = 2_500;
/** Longer than any step takes on a slow machine. */
const waitMsMax = 60_000;
/** Operations that the reserved space still allows. */
const neverRefused = new Set(["lease", "complete", "extend"]);

function flagsOf(random: Random, size: number): string[] {
  const pick = (...choices: string[]): string => choices[random.below(choices.length)] ?? "";
  const shards = String(1 + random.below(size / mebibytesPerShard));
  const durability = pick("full", "full", "normal");
  return ["--shards", shards, "--durability", durability];
}

export async function proveFullDisks(options: FullDiskOptions): Promise<ProofResult> {
  const { disks, seed, log } = options;
  const elapsed = stopwatch();
  const kinds = diskKinds.filter((kind) => whyNoDisk(kind) === null);
  if (kinds.length === 0) {
    return skippedResult(method, seed, whyNoDisk("tmpfs") ?? "");
  }
  const figures: Record<string, number> = { disks };
  const faults: string[] = [];
  for (let disk = 0; disk < disks; disk += 1) {
    const kind = kinds[disk % kinds.length] as DiskKind;
    const outcome = await new OneDisk(kind, seed + disk, options.fills).run();
    for (const [name, value] of Object.entries(outcome.figures)) {
      figures[name] = (figures[name] ?? 0) + value;
    }
    faults.push(...outcome.faults);
    log(`${disk + 1} of ${disks} disks, ${figures["refusedCalls"]} calls refused`);
  }
  return { method, seconds: elapsed(), seed, figures, faults };
}

class OneDisk {
  readonly #kind: DiskKind;
  readonly #seed: number;
  readonly #fills: number;
  readonly #random: Random;
  readonly #flags: readonly string[];
  readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-full-disks-"));
  readonly #history = new History(join(this.#folder, "history.log"));
  readonly #address = new Address();
  readonly #faults = new Faults();
  readonly #disk: SmallDisk;
  #server: ServerChild | null = null;
  #restarts = 0;
  #completedWhileFull = 0;

  constructor(kind: DiskKind, seed: number, fills: number) {
    this.#kind = kind;
    this.#seed = seed;
    this.#fills = fills;
    this.#random = seededRandom(seed);
    const size = mebibytes[this.#random.below(mebibytes.length)] ?? mebibytes[0];
    this.#flags = flagsOf(this.#random, size);
    this.#disk = new SmallDisk(kind, size);
  }

  async run(): Promise<Pick<ProofResult, "figures" | "faults">> {
    const history = this.#history;
    try {
      await this.#start();
      await createQueues(this.#address, shape);
      const load = new Load({
        ...{ address: this.#address, history, random: this.#random },
        ...{ producers: 4, consumers: 6, batchMax: 100, backlogMax },
      });
      for (let fill = 0; fill < this.#fills; fill += 1) await this.#fillOnce(load);
      await this.#settled(load);
      const ending = await load.drain();
      await history.close();
      const checked = checkQueue(history.entries, ending, rules);
      const order = checkOrder(history.entries);
      const refused = history.entries.filter(({ status }) => status === 500);
      for (const { verb, refusal } of refused) {
        if (!neverRefused.has(verb)) continue;
        this.#faults.add("a call that needs no room was refused", `${verb}; ${refusal}`);
      }
      this.#checkShards();
      const replay = `${this.#kind}, ${this.#flags.join(" ")}, seed ${this.#seed}; history in ${this.#folder}`;
      const faults = [checked.faults, order.faults, this.#faults].flatMap((one) =>
        one.list(replay),
      );
      if (faults.length === 0) rmSync(this.#folder, { recursive: true, force: true });
      return {
        figures: {
          fills: this.#fills,
          restarts: this.#restarts,
          acknowledged: checked.figures["acknowledged"] ?? 0,
          lost: checked.figures["lost"] ?? 0,
          completedWhileFull: this.#completedWhileFull,
          refusedCalls: refused.length,
        },
        faults,
      };
    } finally {
      this.#server?.kill("SIGKILL");
      await this.#server?.exited;
      this.#disk[Symbol.dispose]();
    }
  }

  #checkShards(): void {
    const log = this.#server?.log() ?? "";
    const at = log.indexOf("shard is down");
    if (at >= 0) this.#faults.add("a shard went down", log.slice(at, at + 300));
  }

  async #start(): Promise<void> {
    const server = spawnServer({ data: join(this.#disk.path, "data"), flags: this.#flags });
    this.#server = server;
    this.#address.up(await server.listening());
  }

  async #restart(): Promise<void> {
    this.#address.down();
    this.#checkShards();
    this.#restarts += 1;
    const signal = this.#random.below(2) === 0 ? "SIGKILL" : "SIGTERM";
    this.#history.note(signal);
    this.#server?.kill(signal);
    await this.#server?.exited;
    await this.#start();
  }

  async #fillOnce(load: Load): Promise<void> {
    const history = this.#history;
    await Bun.sleep(this.#random.below(300));
    load.isPilingUp = true;
    await this.#waitUntil(() => history.backlog >= waitingMin, "too little is produced");
    const isGreedy = this.#random.below(2) === 0;
    this.#disk.fill();
    history.note(`full${isGreedy ? ", and kept full" : ""}`);
    let isOver = false;
    const filling = (async () => {
      while (isGreedy && !isOver) {
        await Bun.sleep(this.#random.below(fillAgainMsMax));
        this.#disk.fill();
      }
    })();
    const first = history.entries.length;
    // Completes free space in the store's files, which may be enough for produces.
    await this.#waitUntil(() => this.#isRefused(first), "a full disk refuses nothing");
    load.isPilingUp = false;
    await this.#completeSome();
    if (this.#random.below(2) === 0) {
      await this.#restart();
      await this.#completeSome();
    }
    isOver = true;
    await filling;
    this.#disk.free();
    history.note("free");
    const full = history.acknowledged;
    await this.#waitUntil(
      () => history.acknowledged > full,
      "items are refused though there is room",
    );
  }

  /** Waits until the items that a full shard could not accept have arrived. */
  async #settled(load: Load): Promise<void> {
    const health = `http://127.0.0.1:${await this.#address.port}/health`;
    const deadline = performance.now() + waitMsMax;
    for (let status = ""; status !== "ok"; await load.rest(restMs)) {
      ({ status } = (await (await fetch(health)).json()) as { status: string });
      if (performance.now() < deadline) continue;
      this.#faults.add("a store stays full though there is room", status);
      return;
    }
    await load.rest(travelMs);
  }

  #isRefused(first: number): boolean {
    const { entries } = this.#history;
    for (let index = entries.length - 1; index >= first; index -= 1) {
      if (entries[index]?.verb === "produce" && entries[index]?.status === 500) return true;
    }
    return false;
  }

  async #completeSome(): Promise<void> {
    const before = this.#history.completed;
    const isEnough = () => this.#history.completed >= before + completesMin;
    await this.#waitUntil(isEnough, "nothing is completed on a full disk");
    this.#completedWhileFull += this.#history.completed - before;
  }

  async #waitUntil(isDone: () => boolean, otherwise: string): Promise<void> {
    const deadline = performance.now() + waitMsMax;
    while (!isDone()) {
      if (performance.now() > deadline) {
        this.#faults.add(otherwise, `after ${waitMsMax} ms`);
        return;
      }
      await Bun.sleep(2);
    }
  }
}
