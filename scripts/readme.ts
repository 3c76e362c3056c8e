// `bun run readme`: writes the tables of README.md and bench/SCALING.md from the benchmark results. A
// test fails while they differ.

import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { PeerRow, PeersResult } from "../bench/peers/peers.ts";
import { phases } from "../bench/probes/one-by-one.ts";
import { rateOfMany, rateOfOne } from "../bench/probes/shard-account.ts";
import { type LoadName, loads } from "../bench/probes/shard-threads.ts";
import { latestResults, readResults } from "../bench/report/results.ts";
import { markdownTable, rate } from "../bench/report/tables.ts";

/** Files with generated parts. */
export const generatedFiles = ["../README.md", "../bench/SCALING.md"].map((path) =>
  join(import.meta.dir, path),
);

/** Returns the text with its generated parts updated. */
export function withGenerated(given: string): string {
  const parts = {
    speed: speedText(),
    peers: peersText(),
    stages: stagesText(),
    ceilings: ceilingsText(),
    costs: costsText(),
    soak: soakText(),
    gather: gatherText(),
    keys: keysText(),
    "shard-threads": shardThreadsText(),
  };
  return Object.entries(parts).reduce(
    (text, [name, part]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`),
        (_, start, end) => `${start}${part}\n${end}`,
      ),
    given,
  );
}

/** The link, the number of rounds and the processor. */
function sourceOf(file: string, folder: string): string {
  const { machine, ...results } = JSON.parse(readFileSync(file, "utf8"));
  const rounds = results.rounds ?? results.settings.rounds;
  return `${linkTo(file, folder)}, medians of ${rounds} rounds on ${machine.cores} cores of an ${machine.processor ?? machine.cpu}`;
}

/** `folder`: the results folder, relative to the linking file. */
function linkTo(file: string, folder: string): string {
  return `[${folder}/${basename(file)}](${folder}/${basename(file)})`;
}

const calls = [1, 10, 100, 1_000] as const;

function speedText(): string {
  const file = latestResults();
  const { measurements } = readResults(file);
  const rows = measurements.flatMap(({ cell, figures }) => {
    if (cell === undefined || cell.flow !== "phases" || cell.backlog > 0) return [];
    const figure = (name: string) => figures[name]?.median ?? Number.NaN;
    return [
      [
        rate(cell.itemsPerCall),
        String(cell.connections),
        rate(figure("produce.itemsPerSecond")),
        figure("produce.overE").toFixed(2),
        figure("produce.overS").toFixed(2),
        rate(figure("consume.itemsPerSecond")),
        figure("consume.overS").toFixed(2),
        rate(figure("all.itemsPerSecond")),
      ],
    ];
  });
  const produce = ["produce, items/s", "of HTTP alone", "of SQLite alone"];
  const consume = ["lease + complete, items/s", "of SQLite alone"];
  const head = ["items per call", "connections", ...produce, ...consume, "all three"];
  const probe = (name: string, figure: string) =>
    measurements.find((one) => one.name === name)?.figures[figure]?.median ?? Number.NaN;
  const [wake, floor] = ["wake", "W"].map(
    (name) =>
      `${probe("wake", `${name}.p50Ms`).toFixed(2)} ms at the median and ${probe("wake", `${name}.p99Ms`).toFixed(1)} at p99`,
  );
  const woken = `A waiting lease is answered after ${wake}; one write and one sync behind the same HTTP take ${floor}.`;
  const rest = `An idle server uses ${megabytes(probe("start b0", "memoryBytes"))} MB, and with a million items waiting ${megabytes(probe("start b1M", "memoryBytes"))} MB.`;
  const from = `From ${sourceOf(file, "results")}:`;
  return `${from}\n\n${markdownTable(head, rows)}\n\n${woken} ${rest}`;
}

/** A peer's settings, shown beside its name. */
const settings: Readonly<Record<string, string>> = {
  "Redis Streams": ", `appendfsync always`",
  BullMQ: " on the same Redis",
  beanstalkd: " `-f 0`",
  "NATS JetStream": ", `sync_interval: always`",
  "pgmq-style SQL": " on PostgreSQL",
  "pg-boss": " on PostgreSQL",
  "RabbitMQ quorum queue": " (syncs publishes only)",
};

function peersText(): string {
  const file = latestResults("-peers.json");
  const { rows, rounds }: PeersResult = JSON.parse(readFileSync(file, "utf8"));
  const fastest = (among: readonly PeerRow[], items: number) =>
    Math.max(
      0,
      ...among.flatMap(({ itemsPerCall, total }) => (itemsPerCall === items ? total.median : [])),
    );
  const cellOf = (own: readonly PeerRow[], items: number): string => {
    const row = own.find(({ itemsPerCall }) => itemsPerCall === items);
    if (row === undefined) return "–";
    const text = rate(row.total.median);
    const part = row.items.length < rounds ? ` (${row.items.length} of ${rounds} rounds)` : "";
    return (row.total.median === fastest(rows, items) ? `**${text}**` : text) + part;
  };
  const peers = [...Map.groupBy(rows, ({ peer }) => peer)].sort(
    ([, one], [, other]) => fastest(other, 100) - fastest(one, 100),
  );
  const table = markdownTable(
    ["items/s, all three calls", ...calls.map((items) => `${rate(items)} per call`)],
    peers.map(([name, own]) => [
      name + (settings[name] ?? ""),
      ...calls.map((items) => cellOf(own, items)),
    ]),
  );
  const [own, others] = [true, false].map((isOwn) =>
    rows.filter(({ peer }) => (peer === "Holdfast") === isOwn),
  ) as [PeerRow[], PeerRow[]];
  const ratios = calls.map((items) => {
    const ratio = fastest(own, items) / fastest(others, items);
    return `${ratio.toFixed(2)} at ${rate(items)}`;
  });
  const sum = `Holdfast over the fastest of the others, by items per call: ${ratios.join(", ")}.`;
  return `From ${sourceOf(file, "bench/results")}:\n\n${table}\n\n${sum}`;
}

const verbs = ["produce", "lease", "complete"] as const;
const stageNames = ["parse", "turn", "write", "sync", "reply"] as const;

interface CallCosts extends Readonly<Record<(typeof stageNames)[number], number>> {
  readonly items: number;
  readonly verb: (typeof verbs)[number];
}

/** Microseconds per call of each verb; file writes between turns count as part of the write. */
function callCosts(): readonly CallCosts[] {
  return readResults(latestResults("-stages.json")).measurements.flatMap(({ name, figures }) => {
    const items = /^stages (\d+)$/.exec(name)?.[1];
    if (items === undefined) return [];
    return verbs.map((verb) => {
      const micros = (stage: string) => figures[`${verb}.${stage}`]?.median ?? Number.NaN;
      return {
        items: Number(items),
        verb,
        parse: micros("parse"),
        turn: micros("turn"),
        write: micros("write") + micros("checkpoint"),
        sync: micros("sync"),
        reply: micros("reply"),
      };
    });
  });
}

function microsText(micros: number): string {
  return micros < 10 ? micros.toFixed(1) : rate(micros);
}

function stagesText(): string {
  const rows = callCosts().map((call) => [
    rate(call.items),
    call.verb,
    ...stageNames.map((stage) => microsText(call[stage])),
  ]);
  const table = markdownTable(["items per call", "verb", ...stageNames], rows);
  return `From ${linkTo(latestResults("-stages.json"), "results")}, microseconds:\n\n${table}`;
}

/** Microseconds of an empty call, from the floor that answers at once. */
function httpMicros(): number {
  const { measurements } = readResults(latestResults());
  const cell = measurements.find(({ cell: one }) => one?.itemsPerCall === 1);
  return (cell?.figures["E.produce.cpuSecondsPer1000"]?.median ?? Number.NaN) * 1_000;
}

/** Items per second through all three calls, if each thread has its own core. */
function ceilingsText(): string {
  const http = httpMicros();
  const rows = [...Map.groupBy(callCosts(), ({ items }) => items)].map(([items, costs]) => {
    const sum = (of: (call: CallCosts) => number) => costs.reduce((all, call) => all + of(call), 0);
    const perSecond = (micros: number) => ((items * 1_000_000) / micros).toPrecision(2);
    const outer = sum(({ parse, reply }) => http + parse + reply);
    const inner = sum(({ turn, write }) => turn + write);
    const ceilings = [outer + inner, outer, inner].map(perSecond);
    return [items, ...ceilings].map((value) => rate(Number(value)));
  });
  const head = ["items per call", "all of it", "HTTP, parse and reply", "turn and write"];
  const ofHttp = `An empty call takes ${Math.round(http)} µs, by the processor time of floor E of ${linkTo(latestResults(), "results")}.`;
  return `${ofHttp}\n\n${markdownTable(head, rows)}`;
}

/** The cost of an item through all three calls, here and with Redis, and the resulting limit. */
function costsText(): string {
  const file = latestResults();
  const { measurements, machine } = readResults(file);
  const peersFile = latestResults("-peers.json");
  const { rows: peers }: PeersResult = JSON.parse(readFileSync(peersFile, "utf8"));
  const rows = measurements.flatMap(({ cell, figures }) => {
    if (cell === undefined || cell.flow !== "phases" || cell.backlog > 0) return [];
    const figure = (name: string) => figures[name]?.median ?? Number.NaN;
    const phases = ["produce", "consume"].map((phase) => {
      const micros = figure(`${phase}.cpuSecondsPer1000`) * 1_000;
      return { micros, load: micros * figure(`${phase}.clientCpuOverServer`) };
    });
    const micros = phases.reduce((sum, phase) => sum + phase.micros, 0);
    const load = phases.reduce((sum, phase) => sum + phase.load, 0);
    // Both from one run, because the speed of a machine varies from hour to hour.
    const beside = ["Holdfast", "Redis Streams"].map((name) => {
      const row = peers.find(
        ({ peer, itemsPerCall }) => peer === name && itemsPerCall === cell.itemsPerCall,
      );
      return microsText(row?.serverMicros?.median ?? Number.NaN);
    });
    return [
      [
        rate(cell.itemsPerCall),
        ...phases.map((phase) => microsText(phase.micros)),
        microsText(load),
        rate(Number(((machine.cores * 1_000_000) / (micros + load)).toPrecision(2))),
        rate(figure("all.itemsPerSecond")),
        ...beside,
      ],
    ];
  });
  const head = [
    "items per call",
    "to produce",
    "to lease and complete",
    "the generator",
    `${machine.cores} cores end at, items/s`,
    "reached",
    "all three, beside Redis",
    "Redis",
  ];
  const from = `From ${linkTo(file, "results")} and ${linkTo(peersFile, "results")}, microseconds of processor time per item:`;
  return `${from}\n\n${markdownTable(head, rows)}`;
}

function soakText(): string {
  const file = latestResults("-soak.json");
  const { measurements, settings } = readResults(file);
  const [first, last] = [measurements.at(0), measurements.at(-1)].map(
    (part) => part?.figures ?? {},
  );
  const figures = [
    ["items per second", "itemsPerSecond", rate],
    ["produce, p99 in ms", "produce.p99Ms", microsText],
    ["lease, p99 in ms", "lease.p99Ms", microsText],
    ["complete, p99 in ms", "complete.p99Ms", microsText],
    ["processors", "cpuShare", (share: number) => share.toFixed(2)],
    ["memory in MB", "memoryBytes", megabytes],
    ["disk in MB", "diskBytes", megabytes],
  ] as const;
  const rows = figures.map(([title, name, text]) => {
    const [begin = Number.NaN, end = Number.NaN] = [first, last].map(
      (part) => part?.[name]?.median,
    );
    return [title, text(begin), text(end), (end / begin).toFixed(2)];
  });
  const head = ["", "first tenth", "last tenth", "last of first"];
  const from = `From ${linkTo(file, "results")}, ${settings["minutes"]} minutes, highest rate ${rate(Number(settings["highest"]))}:`;
  return `${from}\n\n${markdownTable(head, rows)}`;
}

/** The gathering client compared with the client without gathering, and with Redis clients. */
function gatherText(): string {
  const file = latestResults("-gather.json");
  const rows = readResults(file).measurements.flatMap(({ name, figures }) => {
    const tasks = /^gather (\d+)$/.exec(name)?.[1];
    if (tasks === undefined) return [];
    return ["node", "bun"].flatMap((runtime) =>
      phases.map((phase) => {
        const of = (what: string): number => figures[`${runtime}.${phase}.${what}`]?.median ?? 0;
        const over = (side: string): string =>
          of(`over.${side}`).toFixed(side === "bullmq" ? 1 : 2);
        const others = ["alone", "ioredis", "bullmq"].map(over);
        const most = (["ioredis", "bullmq"] as const).map((side) =>
          phase === "produce" ? (of("floor") / of(side)).toFixed(side === "bullmq" ? 1 : 2) : "",
        );
        return [tasks, runtime, phase, rate(of("gathered")), ...others, ...most];
      }),
    );
  });
  const over = ["over alone", "over ioredis", "over BullMQ"];
  const floor = ["floor over ioredis", "floor over BullMQ"];
  const head = ["tasks", "runtime", "each", "items/s", ...over, ...floor];
  return `From ${linkTo(file, "results")}:\n\n${markdownTable(head, rows)}`;
}

function keysText(): string {
  const file = latestResults("-keys.json");
  const rows = readResults(file).measurements.flatMap(({ name, figures }) => {
    const itemsPerCall = /^keys (\d+)$/.exec(name)?.[1];
    if (itemsPerCall === undefined) return [];
    const of = (what: string): number => figures[what]?.median ?? 0;
    const [keyed, plain] = ["keyed", "plain"].map((side) => rate(of(`${side}.itemsPerSecond`)));
    const ratios = [of("keyedOverPlain"), of("floor.keyedOverPlain")];
    return [[itemsPerCall, plain ?? "", keyed ?? "", ...ratios.map((ratio) => ratio.toFixed(2))]];
  });
  const head = ["items per call", "without, items/s", "with a key", "ratio", "ratio of floor E"];
  return `From ${linkTo(file, "results")}:\n\n${markdownTable(head, rows)}`;
}

/** Medians for one call size, by name. */
interface ShardThreads {
  readonly itemsPerCall: string;
  readonly of: (figure: string) => number;
}

/** The costs and gains of shard threads: measured, and estimated for more threads. */
function shardThreadsText(): string {
  const file = latestResults("-threads.json");
  const { measurements, machine } = readResults(file);
  const sizes = measurements.flatMap(({ name, figures }): ShardThreads[] => {
    const itemsPerCall = /^shard threads (\d+)$/.exec(name)?.[1];
    if (itemsPerCall === undefined) return [];
    return [{ itemsPerCall, of: (figure) => figures[figure]?.median ?? Number.NaN }];
  });
  const others = Math.max(0, ...sizes.map(({ of }) => of("otherCores"))).toFixed(2);
  const on = `${machine.cores} cores with the load on them, of which other programs took ${others}, ${machine.fileSystem}`;
  const measured = markdownTable(shardThreadsHead, sizes.flatMap(shardThreadsRows));
  const head = ["by account, over one shard", ...accountedShards.map(String)];
  const account = markdownTable(head, sizes.flatMap(accountRows));
  return [
    `From ${linkTo(file, "results")}, on ${on}:`,
    measured,
    crossingText(sizes),
    account,
    ceilingText(sizes),
  ].join("\n\n");
}

const shardThreadsHead = [
  "items per call",
  "verb",
  "load",
  "calls/s",
  "all threads, µs per call",
  "the main one, µs per call",
  "cores of the server",
  "of the generator",
];
const shardPhases = ["produce", "consume"] as const;

function shardThreadsRows({ itemsPerCall, of }: ShardThreads): string[][] {
  return shardPhases.flatMap((phase) =>
    Object.keys(loads).map((load) => {
      const at = (figure: string) => of(`${load}.${phase}.${figure}`);
      return [
        itemsPerCall,
        phase === "produce" ? phase : "lease and complete",
        load,
        rate(at("callsPerSecond")),
        microsText(at("cpuMicrosecondsPerCall")),
        microsText(at("mainThreadMicrosecondsPerCall")),
        at("serverCores").toFixed(2),
        at("clientCores").toFixed(2),
      ];
    }),
  );
}

/** The mean of a figure over a produce, a lease and a complete. */
function callMicros({ of }: ShardThreads, load: LoadName | "crossing", figure: string): number {
  return (of(`${load}.produce.${figure}`) + 2 * of(`${load}.consume.${figure}`)) / 3;
}

const allThreads = "cpuMicrosecondsPerCall";
const mainThread = "mainThreadMicrosecondsPerCall";
const accountedShards = [1, 2, 4, 8, 16] as const;

function costsOfMany(size: ShardThreads) {
  return {
    alone: callMicros(size, "one shard", allThreads),
    local: callMicros(size, "two shards, local", allThreads),
    crossing: callMicros(size, "crossing", allThreads),
  };
}

function crossingText(sizes: readonly ShardThreads[]): string {
  const costs = sizes.map((size) => {
    const { alone, local, crossing } = costsOfMany(size);
    const [one, two, difference] = [alone, local, Math.abs(crossing)].map(microsText);
    const more = `${difference} ${crossing < 0 ? "less" : "more"} to cross`;
    return `with ${itemsText(size)} ${one} on one shard, ${two} local on two, and ${more}`;
  });
  return `Microseconds per call, over a produce, a lease and a complete: ${costs.join("; ")}.`;
}

function accountRows(size: ShardThreads): string[][] {
  const many = costsOfMany(size);
  const queue = {
    own: callMicros(size, "one queue", mainThread),
    crossing: callMicros(size, "one queue, crossing", mainThread),
  };
  const row = (name: string, rateOf: (shards: number) => number) => [
    `${name}, ${itemsText(size)}`,
    ...accountedShards.map((shards) => rateOf(shards).toFixed(1)),
  ];
  // A cost below zero is noise.
  const costs = { ...many, crossing: Math.max(0, many.crossing) };
  const share = (shards: number) => rateOfMany(costs, shards) / shards;
  // The extra cost of two threads over one, even if no call crosses.
  const more = Math.min(1, many.alone / many.local);
  const shares = (of: (shards: number) => number) =>
    accountedShards.map((shards) => of(shards).toFixed(2));
  return [
    row("many queues", (shards) => rateOfMany(costs, shards)),
    [`share of linear, ${itemsText(size)}`, ...shares(share)],
    [
      `share at worst, ${itemsText(size)}`,
      ...shares((shards) => share(shards) * (shards === 1 ? 1 : more)),
    ],
    row("one queue", (shards) => rateOfOne(queue, shards)),
  ];
}

function itemsText({ itemsPerCall }: ShardThreads): string {
  return itemsPerCall === "1" ? "1 item per call" : `${itemsPerCall} items per call`;
}

function ceilingText(sizes: readonly ShardThreads[]): string {
  const ceilings = sizes.map((size) => {
    const [own, crossing] = (["one queue", "one queue, crossing"] as const).map((load) => {
      const callsPerSecond = 1_000_000 / callMicros(size, load, mainThread);
      return rate(Number(((Number(size.itemsPerCall) * callsPerSecond) / 3).toPrecision(2)));
    });
    return `${own} and ${crossing} with ${itemsText(size)}`;
  });
  return (
    "Items per second through all three calls at which the thread of one queue is full, with all connections " +
    `of its own and with none: ${ceilings.join(", ")}.`
  );
}

function megabytes(bytes: number): string {
  return rate(bytes / 1_000_000);
}

if (import.meta.main) {
  for (const path of generatedFiles) writeFileSync(path, withGenerated(readFileSync(path, "utf8")));
}
