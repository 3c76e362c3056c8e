// The program traced for power cuts: the real engine and store in one thread, except for the syncs,
// so that the trace has one order. Each note of the load is one write to a file, so it has a place
// in the trace.
//
//   bun proof/storage/traced-load.ts FOLDER DURABILITY SEED CALLS

import { mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createShards } from "../../engine/simulation/all-shards.ts";
import { seededRandom } from "../../engine/simulation/seeded-random.ts";
import { runStoreLoad } from "./store-load.ts";

const [directory = "", durability, seed = "1", calls = "100"] = process.argv.slice(2);
const notes = openSync(`${directory}/notes`, "w");
const engine = await createShards({
  store: {
    kind: "sqlite",
    directory: `${directory}/data`,
    durability: durability === "normal" ? "normal" : "full",
    ballastBytes: 0,
  },
  shards: 2,
});
let isLoaded = false;
/** Each backup empties the logs, so they start again. The copies are not used. */
async function backUp(): Promise<void> {
  for (let copy = 1; !isLoaded; copy += 1) {
    const folder = join(directory, `../backup-${copy}`);
    mkdirSync(folder);
    await engine.backup(folder);
  }
}
const backups = backUp();
await runStoreLoad(engine, {
  random: seededRandom(Number(seed)),
  calls: Number(calls),
  clients: 4,
  batchMax: 8,
  note: (note) => writeSync(notes, `${JSON.stringify(note)}\n`),
});
isLoaded = true;
await backups;
// A long log is truncated once the shards have been idle for a second.
await Bun.sleep(1_300);
await engine.close();
