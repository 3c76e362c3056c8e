// `bun run bench --peers [--only name]... [--postgres] [--calls n,n] [--rounds n]
// [--json file]`: the same durable work on Holdfast and on the queues that users choose today. Each
// round runs all peers, every second one in reverse order, and starts each
// server on an empty folder; the tables contain the medians. Only Debian's packages and the Go
// module cache remain afterwards.

import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { diskFloor } from "../cells/floors.ts";
import { commitOf, writeResults } from "../report/results.ts";
import { type Spread as RoundsSpread, spreadOf } from "../report/statistics.ts";
import { markdownTable } from "../report/tables.ts";
import { beanstalkd } from "./beanstalkd.ts";
import { bullmq } from "./bullmq.ts";
import { holdfast, holdfastPostgres } from "./holdfast.ts";
import { type CellResult, measureCell } from "./measure.ts";
import { natsJetStream } from "./nats-jetstream.ts";
import { type DurabilityClass, durabilityTexts, type Peer, type RunningPeer } from "./peer.ts";
import { pgBoss } from "./pg-boss.ts";
import { pgmqSql } from "./pgmq-sql.ts";
import { rabbitmq } from "./rabbitmq.ts";
import { redisStreams } from "./redis-streams.ts";
import { withScratch } from "./scratch.ts";

const peers: readonly Peer[] = [
  holdfast,
  redisStreams,
  bullmq,
  pgmqSql,
  pgBoss,
  beanstalkd,
  natsJetStream,
  rabbitmq,
];

/** Peers on the same PostgreSQL with the same settings: a separate comparison. */
export const onPostgres: readonly Peer[] = [holdfastPostgres, pgmqSql, pgBoss];

/** Items of a cell: more for larger calls, which would otherwise end too soon. */
const itemsByCall: ReadonlyMap<number, number> = new Map([
  [1, 20_000],
  [10, 50_000],
  [100, 200_000],
  [1_000, 200_000],
]);
const roundsDefault = 5;
/** A slow peer produces as many items as it can in this time, and consumes those. */
const produceMs = 1_500;
const consumeMs = 6_000;
/** Warm-up of a server: its code and ours is compiled, its pools are filled. */
const warmUp = {
  queue: "warm-up",
  itemsPerCall: 10,
  items: 5_000,
  produceMs: 2_000,
  consumeMs: 2_000,
};
/** Warm-up of each cell, with calls of its size and as many items as this time allows. */
const cellWarmUp = { produceMs: 250, consumeMs: 1_000 };

interface Options {
  /** Names of peers or parts of them, in any case; empty = all. */
  readonly only: readonly string[];
  /** Only the peers that store items in PostgreSQL. */
  readonly postgres: boolean;
  /** Items per call, from `itemsByCall`; empty = all. */
  readonly calls: readonly number[];
  readonly rounds: number;
}

/** Rounded figures, without the single rounds. */
export type Spread = Pick<RoundsSpread, "median" | "min" | "max">;

export interface PeerRow {
  readonly peer: string;
  readonly itemsPerCall: number;
  readonly connections: number;
  /** Items of each round, in order. */
  readonly items: readonly number[];
  /** Items per second. */
  readonly produce: Spread;
  /** Lease and complete. */
  readonly consume: Spread;
  /** Over both phases in sequence. */
  readonly total: Spread;
  /**
   * Processor time per item in microseconds, of everything the peer runs beside the client; older
   * files lack it.
   */
  readonly serverMicros?: Spread;
  readonly clientMicros?: Spread;
  readonly durabilityClass: DurabilityClass;
  readonly settings: string;
  readonly caveat: string;
  readonly version: string;
  /**
   * Rounds in which not all items were consumed in time; the consumed ones were delivered once
   * each.
   */
  readonly partlyCount: number;
}

/** The reason why a peer, or one cell of it, has no figure. */
export interface PeerFailure {
  readonly peer: string;
  readonly durabilityClass: DurabilityClass;
  /** `null`: the peer could not be installed or started. */
  readonly itemsPerCall: number | null;
  readonly round: number | null;
  readonly reason: string;
}

export interface PeersResult {
  readonly madeAt: string;
  readonly commit: string;
  /** The command that repeats the run. */
  readonly command: string;
  readonly machine: {
    readonly processor: string;
    readonly cores: number;
    readonly bun: string;
    /** One thread that appends 4 KiB and syncs, on the peers' disk. */
    readonly syncsPerSecond: number;
  };
  readonly rounds: number;
  readonly rows: readonly PeerRow[];
  readonly failures: readonly PeerFailure[];
}

interface Measured {
  readonly peer: Peer;
  readonly version: string;
  readonly itemsPerCall: number;
  readonly result: CellResult;
}

/** The results of a run so far. */
interface Log {
  readonly measured: Measured[];
  readonly failures: PeerFailure[];
}

function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replaceAll(/\s+/g, " ").slice(0, 400);
}

function fail(
  log: Log,
  peer: Peer,
  where: { readonly itemsPerCall?: number; readonly round?: number; readonly cause: unknown },
): void {
  const { itemsPerCall = null, round = null } = where;
  const reason = reasonOf(where.cause);
  log.failures.push({
    peer: peer.name,
    durabilityClass: peer.durability,
    itemsPerCall,
    round,
    reason,
  });
  console.error(
    `${peer.name}: ${itemsPerCall === null ? "" : `${itemsPerCall} per call: `}${reason}`,
  );
}

async function measurePeer(
  log: Log,
  peer: Peer,
  options: Options & { readonly scratch: string; readonly round: number },
): Promise<void> {
  const { round, calls } = options;
  mkdirSync(options.scratch);
  let running: RunningPeer | null = null;
  try {
    running = await peer.start(options.scratch);
    await measureCell(running, { ...warmUp, connections: peer.connections(warmUp.itemsPerCall) });
    for (const [itemsPerCall, items] of itemsByCall) {
      if (calls.length > 0 && !calls.includes(itemsPerCall)) continue;
      const connections = peer.connections(itemsPerCall);
      try {
        const work = { itemsPerCall, connections, items };
        await measureCell(running, { ...work, ...cellWarmUp, queue: `warm-up-${itemsPerCall}` });
        const result = await measureCell(running, {
          ...work,
          queue: `items-${itemsPerCall}`,
          produceMs,
          consumeMs,
        });
        log.measured.push({ peer, version: running.version, itemsPerCall, result });
        const figures = [result.producePerSecond, result.consumePerSecond].map(whole).join(" / ");
        console.error(`${peer.name}: round ${round + 1}, ${itemsPerCall} per call: ${figures}`);
      } catch (cause) {
        fail(log, peer, { itemsPerCall, round, cause });
      }
    }
  } catch (cause) {
    fail(log, peer, { round, cause });
  } finally {
    await running?.stop().catch((cause: unknown) => fail(log, peer, { round, cause }));
    rmSync(options.scratch, { recursive: true, force: true });
  }
}

function spread(values: readonly number[]): Spread {
  const { median, min, max } = spreadOf(values);
  return { median: Math.round(median), min: Math.round(min), max: Math.round(max) };
}

function rowsOf(measured: readonly Measured[]): PeerRow[] {
  const rows: PeerRow[] = [];
  for (const peer of new Set([...onPostgres, ...peers])) {
    for (const itemsPerCall of itemsByCall.keys()) {
      const cells = measured.filter(
        (one) => one.peer === peer && one.itemsPerCall === itemsPerCall,
      );
      const [first] = cells;
      if (first === undefined) continue;
      const results = cells.map(({ result }) => result);
      rows.push({
        peer: peer.name,
        itemsPerCall,
        connections: peer.connections(itemsPerCall),
        items: results.map(({ items }) => items),
        produce: spread(results.map((result) => result.producePerSecond)),
        consume: spread(results.map((result) => result.consumePerSecond)),
        total: spread(
          results.map((result) => 1 / (1 / result.producePerSecond + 1 / result.consumePerSecond)),
        ),
        serverMicros: spread(results.map((result) => result.serverMicros)),
        clientMicros: spread(results.map((result) => result.clientMicros)),
        durabilityClass: peer.durability,
        settings: peer.settings,
        caveat: peer.caveat,
        version: first.version,
        partlyCount: results.filter(({ partly }) => partly).length,
      });
    }
  }
  return rows;
}

async function installAll(log: Log, chosen: readonly Peer[], scratch: string): Promise<Peer[]> {
  const ready: Peer[] = [];
  for (const peer of chosen) {
    console.error(`${peer.name}: installing`);
    try {
      await peer.install(scratch);
      ready.push(peer);
    } catch (cause) {
      fail(log, peer, { cause });
    }
  }
  return ready;
}

/** The peers whose name contains one of `names`, in any case; all if `names` is empty. */
export function chosenFrom(among: readonly Peer[], names: readonly string[]): readonly Peer[] {
  const wanted = names.map((name) => name.toLowerCase());
  const chosen = among.filter(
    ({ name }) => wanted.length === 0 || wanted.some((part) => name.toLowerCase().includes(part)),
  );
  if (chosen.length > 0) return chosen;
  const known = among.map(({ name }) => name).join(", ");
  throw new Error(`no peer is named ${names.join(", ")}; expected one of ${known}`);
}

function runPeers(options: Options): Promise<PeersResult> {
  const { only, postgres, rounds } = options;
  const chosen = chosenFrom(postgres ? onPostgres : peers, only);
  const log: Log = { measured: [], failures: [] };
  return withScratch(async (scratch) => {
    const ready = await installAll(log, chosen, scratch);
    for (let round = 0; round < rounds; round += 1) {
      for (const peer of round % 2 === 0 ? ready : ready.toReversed()) {
        await measurePeer(log, peer, { ...options, scratch: join(scratch, "round"), round });
      }
    }
    return {
      madeAt: new Date().toISOString(),
      commit: await commitOf(),
      command: commandOf(options),
      machine: {
        processor: cpus()[0]?.model ?? "unknown",
        cores: availableParallelism(),
        bun: Bun.version,
        // A rate far above any disk shows that it does not really sync, and that D2 does not hold.
        syncsPerSecond: Math.round(diskFloor(scratch).syncsPerSecond),
      },
      rounds,
      rows: rowsOf(log.measured),
      failures: log.failures,
    };
  });
}

function commandOf({ only, postgres, calls, rounds }: Options): string {
  const words = ["bun run bench --peers", ...only.map((name) => `--only '${name}'`)];
  if (postgres) words.push("--postgres");
  if (calls.length > 0) words.push(`--calls ${calls.join(",")}`);
  if (rounds !== roundsDefault) words.push(`--rounds ${rounds}`);
  return words.join(" ");
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function spreadText(spread: Spread | undefined): string {
  if (spread === undefined) return "";
  const { median, min, max } = spread;
  return min === max ? whole(median) : `${whole(median)} (${whole(min)} to ${whole(max)})`;
}

function cellsOf(row: PeerRow): string[] {
  const { produce, consume, total, serverMicros, clientMicros } = row;
  const figures = [produce, consume, total, serverMicros, clientMicros].map(spreadText);
  const partly = row.partlyCount === 0 ? "" : ` (not drained in ${row.partlyCount} rounds)`;
  return [
    `${row.peer} ${row.version}${partly}`,
    whole(row.itemsPerCall),
    String(row.connections),
    ...figures,
  ];
}

function failureCells({ peer, itemsPerCall, round, reason }: PeerFailure): string[] {
  const when = round === null ? "" : `round ${round + 1}: `;
  const text = `${when}${reason}`.replaceAll("|", "\\|");
  return [peer, itemsPerCall === null ? "all" : whole(itemsPerCall), "", text];
}

const head = [
  ...["peer", "items per call", "connections", "produce", "lease + complete", "both"],
  ...["server µs", "client µs"],
];

/** One Markdown table for each durability class, with the settings below it. */
function peerTables({ rows, failures, machine, rounds }: PeersResult): string {
  const parts = [
    `100-byte items; items/s and processor time for each, median of ${rounds} rounds (least to most); ` +
      `${machine.cores} × ${machine.processor}, Bun ${machine.bun}, ` +
      `${whole(machine.syncsPerSecond)} syncs/s on this disk; clients in one Bun process`,
  ];
  for (const [durability, text] of Object.entries(durabilityTexts)) {
    const inClass = rows.filter((row) => row.durabilityClass === durability);
    const failed = failures.filter((failure) => failure.durabilityClass === durability);
    if (inClass.length === 0 && failed.length === 0) continue;
    const byCall = inClass.toSorted((a, b) => a.itemsPerCall - b.itemsPerCall);
    const lines = [...byCall.map(cellsOf), ...failed.map(failureCells)];
    const notes = new Map(inClass.map((row) => [row.peer, row]));
    parts.push(
      [
        `## ${text}`,
        "",
        markdownTable(head, lines),
        "",
        ...[...notes.values()].map(
          ({ peer, settings, caveat }) =>
            `- ${peer}: ${settings}${caveat === "" ? "" : `. Note: ${caveat}`}.`,
        ),
      ].join("\n"),
    );
  }
  return parts.join("\n\n");
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true, default: [] },
      postgres: { type: "boolean", default: false },
      calls: { type: "string" },
      rounds: { type: "string", default: String(roundsDefault) },
      json: { type: "string" },
    },
  });
  const { only, calls, postgres } = values;
  const result = await runPeers({
    only,
    postgres,
    calls: calls?.split(",").map(Number) ?? [],
    rounds: Number(values.rounds),
  });
  console.log(peerTables(result));
  const isWhole = !postgres && calls === undefined && only.length === 0;
  if (values.json !== undefined || isWhole) {
    const path = writeResults(result, { ending: "-peers.json", path: values.json ?? null });
    console.log(`written to ${path}`);
  }
}

if (import.meta.main) {
  await main();
  // A peer's client may leave a timer or a connection open.
  process.exit(0);
}
