// What it gains that the client gathers: tasks that each produce, or handle, one item at a time, on
// Node and on Bun. Beside it the same client without gathering, and two clients of Redis, synced
// before each answer: ioredis, which pipelines what is asked for together, and BullMQ. What any queue
// behind this client could do is the floor: HTTP and one sync a call, in the thread that answers.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Measured, type OneByOne, phases, type Side, sides } from "./one-by-one.ts";
import { bullmqPackages } from "./peers/bullmq.ts";
import { npmPackages, run } from "./peers/install.ts";
import { installRedis, startRedis } from "./peers/redis-server.ts";
import type { Figures, RunOptions } from "./run-cell.ts";
import { startListening, startServer } from "./server-process.ts";

const program = "one-by-one.mjs";
/** Node compiles what it calls once per call of the server only after a while. */
const times = { warmUpMs: 1_500, measureMs: 2_000 };
/** More than each handles in that time, so that none runs dry; a slow one takes long to fill. */
const backlogOf: Readonly<Record<Side, number>> = {
  gathered: 200_000,
  alone: 40_000,
  ioredis: 100_000,
  bullmq: 20_000,
  floor: 0,
};

/** Items per second by runtime, phase and side, and how the first side compares with the others. */
export async function gather(tasks: number, { directory }: RunOptions): Promise<Figures> {
  const folder = join(directory, "gather");
  rmSync(folder, { recursive: true, force: true });
  await install(folder);
  const data = join(folder, "data");
  mkdirSync(data);
  const redis = await startRedis(folder);
  const starting = [
    startServer({ data, flags: ["--log-level", "error"] }),
    startListening([join(import.meta.dir, "floor-server.ts"), "100", join(folder, "floor")]),
  ] as const;
  const [server, floor] = await Promise.all(starting).catch(async (cause: unknown) => {
    await redis.stop();
    throw cause;
  });
  const portOf: Readonly<Record<Side, number>> = {
    gathered: server.port,
    alone: server.port,
    ioredis: redis.port,
    bullmq: redis.port,
    floor: floor.port,
  };
  const figures: Figures = {};
  try {
    for (const [runtime, path] of runtimes()) {
      for (const phase of phases) {
        for (const side of sides.filter((one) => one !== "floor" || phase === "produce")) {
          const of = `${runtime}.${phase}.${side}`;
          const place = { port: portOf[side], queue: of, backlog: backlogOf[side] };
          const one = { side, phase, tasks, ...place, ...times };
          const measured = await measure([path, program], folder, one);
          figures[of] = measured.itemsPerSecond;
          figures[`${of}.cpuUs`] = measured.cpuMicrosecondsPerItem;
        }
        addRatios(figures, `${runtime}.${phase}`);
      }
    }
    return figures;
  } finally {
    await redis.stop();
    await server.stop();
    await floor.stop("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
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

/** The program, with the clients of Redis where it finds them. */
async function install(folder: string): Promise<void> {
  await installRedis();
  await npmPackages(folder, bullmqPackages);
  const entrypoints = [join(import.meta.dir, "one-by-one.ts")];
  const [built] = (await Bun.build({ entrypoints, target: "node" })).outputs;
  if (built === undefined) throw new Error("the program was not built");
  writeFileSync(join(folder, program), await built.text());
}

async function measure(command: readonly string[], cwd: string, one: OneByOne): Promise<Measured> {
  const said = await run(command, { cwd, env: { ONE_BY_ONE: JSON.stringify(one) } });
  return JSON.parse(said);
}
