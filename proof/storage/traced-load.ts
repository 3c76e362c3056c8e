// The program that is traced for power cuts: the real engine over the real store,
// in one thread but for the syncs, so that the trace has one order. Each note of its load is
// written to a file in one call, and so has its place in the trace.
//
//   bun proof/traced-load.ts FOLDER DURABILITY SEED CALLS

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
/** Each empties the logs, which begin anew. The copies are of no interest. */
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
// A log that has grown long is cut to nothing once the shards have been idle for a second.
await Bun.sleep(1_300);
await engine.close();
