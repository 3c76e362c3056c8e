// The program that sync.test.ts traces. It opens an existing store, uses it in every way that
// reaches the disk, and closes it. It writes the id of its JavaScript thread, and how often a timer
// fired during each step, to the file `outcome`.
//
//   bun stores/sqlite/testing/traced-store.ts FOLDER DURABILITY BALLAST

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { item, nothing } from "../../conformance/values.ts";
import { openSqliteStore } from "../store.ts";

const [folder = "", durability, ballast] = process.argv.slice(2);
const backup = join(folder, "backup");
mkdirSync(backup);
const { store, maintenance } = await openSqliteStore({
  path: join(folder, "data/shard-0.db"),
  durability: durability === "normal" ? "normal" : "full",
  newTag: () => "0123456789Ab",
  acceptLogLoss: false,
  ballastBytes: Number(ballast),
});

let ticks = 0;
const timer = setInterval(() => (ticks += 1), 5);
const fired: Record<string, number> = {};
async function step(name: string, work: () => Promise<unknown>): Promise<void> {
  ticks = 0;
  await work();
  fired[name] = ticks;
}

const payload = new Uint8Array(3_000_000);
let turn = 0;
async function commit(change: Partial<typeof nothing>): Promise<void> {
  turn += 1;
  const record = { turn, at: turn, tag: "" };
  await (await store.commit({ ...nothing, ...change, turn: record })).synced;
}
const insert = () => commit({ insert: [item(1, turn, { payload })] });

await step("commit", insert);
for (let more = 0; more < 2; more += 1) await insert();
await step("relieve", () => maintenance.relieve());
await commit({ remove: [{ slot: 1, seqs: [0, 1] }] });
await step("vacuum", () => maintenance.tidy());
while (await maintenance.tidy());
await insert();
await step("backup", () => maintenance.backup(backup));
await insert();
await step("close", () => store.close());
clearInterval(timer);
writeFileSync(join(folder, "outcome"), JSON.stringify({ pid: process.pid, fired }));
