import { expect, test } from "bun:test";
import { limits } from "../../engine/model/limits.ts";
import { sampleTask } from "../../openapi/schemas.ts";
import { mergeTasks } from "./tasks-list.ts";

const instant = (ms: number) => new Date(ms).toISOString();

/** One task per instant, given with the newest first. */
function listOf(state: string, ...instants: number[]) {
  const tasks = instants.map((at) => {
    return { ...sampleTask, task_id: `${state}-${at}`, state, created_at: instant(at) };
  });
  return { tasks };
}

const idsOf = ({ tasks }: ReturnType<typeof listOf>) => tasks.map(({ task_id }) => task_id);

test("mergeTasks: the newest first", () => {
  const merged = mergeTasks([listOf("done", 40, 20), listOf("running", 30), listOf("failed", 10)]);
  expect(idsOf(merged)).toEqual(["done-40", "running-30", "done-20", "failed-10"]);
  expect(mergeTasks([listOf("done"), listOf("done")])).toEqual({ tasks: [] });
});

test("mergeTasks: all that run, and within the limit those that have ended", () => {
  const instants = Array.from({ length: limits.tasksMax }, (_, at) => 1_000 - at);
  const merged = mergeTasks([listOf("done", ...instants), listOf("running", 2, 1)]);
  expect(merged.tasks).toHaveLength(limits.tasksMax);
  expect(idsOf(merged).slice(-3)).toEqual(["done-903", "running-2", "running-1"]);
  const running = mergeTasks([listOf("running", ...instants), listOf("running", 1_001)]);
  expect(idsOf(running).slice(0, 2)).toEqual(["running-1001", "running-1000"]);
  expect(running.tasks).toHaveLength(limits.tasksMax + 1);
});
