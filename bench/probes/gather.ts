// Measures the gain of the client's gathering: tasks that each produce, or handle, one item at a
// time, on Node and on Bun. It is compared with the same client without gathering and with two
// Redis clients, synced before each answer: ioredis, which pipelines concurrent commands, and
// BullMQ. The floor is the limit of any queue behind this client: HTTP and one sync per call, in
// the answering thread.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmPackages, run } from "../../testing/install.ts";
import { startFloor } from "../cells/floors.ts";
import type { RunOptions } from "../cells/run-cell.ts";
import { withServer } from "../load/loaded-server.ts";
import { bullmqPackages } from "../peers/bullmq.ts";
import { installRedis, startRedis } from "../peers/redis-server.ts";
import type { Figures } from "../report/results.ts";
import { type Measured, type OneByOne, phases, type Side, sides } from "./one-by-one.ts";

const program = "one-by-one.mjs";
/** Node compiles code that runs once per server call only after a while. */
const times = { warmUpMs: 1_500, measureMs: 2_000 };
/**
 * More items than each side handles in that time, so that none runs dry; a slow side takes long to
 * fill.
 */
const backlogOf: Readonly<Record<Side, number>> = {
  gathered: 200_000,
  alone: 40_000,
  ioredis: 100_000,
  bullmq: 20_000,
  floor: 0,
};

/** Items per second by runtime, phase and side, and the first side's ratio to the others. */
export async function gather(tasks: number, { directory }: RunOptions): Promise<Figures> {
  const folder = join(directory, "gather");
  rmSync(folder, { recursive: true, force: true });
  await install(folder);
  try {
    return await withServer({ directory }, async ({ port }) => {
      const floor = await startFloor(join(folder, "floor"));
      try {
        const redis = await startRedis(folder);
        const portOf = { gathered: port, alone: port, ioredis: redis.port, bullmq: redis.port };
        const of = { tasks, folder, portOf: { ...portOf, floor: floor.port } };
        return await measureAll(of).finally(redis.stop);
      } finally {
        await floor.stop("SIGKILL");
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll({
  tasks,
  folder,
  portOf,
}: {
  readonly tasks: number;
  readonly folder: string;
  readonly portOf: Readonly<Record<Side, number>>;
}): Promise<Figures> {
  const figures: Figures = {};
  for (const [runtime, path] of runtimes()) {
    for (const phase of phases) {
      for (const side of sides.filter((one) => one !== "floor" || phase === "produce")) {
        const of = `${runtime}.${phase}.${side}`;
        const target = { port: portOf[side], queue: of, backlog: backlogOf[side] };
        const one: OneByOne = { side, phase, tasks, ...target, ...times };
        const printed = await run([path, program], {
          cwd: folder,
          env: { ONE_BY_ONE: JSON.stringify(one) },
        });
        const measured: Measured = JSON.parse(printed);
        figures[of] = measured.itemsPerSecond;
        figures[`${of}.cpuUs`] = measured.cpuMicrosecondsPerItem;
      }
      addRatios(figures, `${runtime}.${phase}`);
    }
  }
  return figures;
}

function addRatios(figures: Figures, of: string): void {
  const [first, ...others] = sides;
  for (const other of others) {
    const rate = figures[`${of}.${other}`];
    if (rate !== undefined)
      figures[`${of}.over.${other}`] = (figures[`${of}.${first}`] ?? 0) / rate;
  }
}

function runtimes(): [string, string][] {
  const node = Bun.which("node");
  return [
    ...(node === null ? [] : [["node", node] as [string, string]]),
    ["bun", process.execPath],
  ];
}

/** Installs the program with the Redis clients beside it. */
async function install(folder: string): Promise<void> {
  await installRedis();
  await npmPackages(folder, bullmqPackages);
  const entrypoints = [join(import.meta.dir, "one-by-one.ts")];
  const [built] = (await Bun.build({ entrypoints, target: "node" })).outputs;
  if (built === undefined) throw new Error("the program was not built");
  writeFileSync(join(folder, program), await built.text());
}
