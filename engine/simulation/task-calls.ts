// I22: a task acts on its items and on no others, once, and comes to its end despite any faults of
// the process.

import type { FoundItem, Repeatable, TaskAction, TaskBegun, TaskRequest } from "../model/api.ts";
import { limits } from "../model/limits.ts";
import { type Auditor, Violation } from "./auditor.ts";
import type { Bundle, Ending } from "./bundle.ts";
import type { Chance } from "./chance.ts";
import type { RepeatedCall } from "./repeats.ts";
import type { Situations } from "./situations.ts";
import { handReason, type TaskPlan } from "./tracked.ts";

export interface TaskCallsOptions {
  /** Some tasks retry leased items. */
  readonly retriesLeased: boolean;
  /** Some tasks change the priority of items. */
  readonly prioritizes: boolean;
  readonly chance: Chance;
  readonly auditor: Auditor;
  readonly situations: Situations;
  readonly bundle: () => Bundle;
  readonly now: () => number;
  readonly log: (event: string) => void;
  readonly repeatable: (call: RepeatedCall<TaskBegun>) => void;
  readonly rest: () => Promise<void>;
  readonly endingText: (ending: Ending<unknown> | null) => string;
}

export class TaskCalls {
  readonly #options: TaskCallsOptions;
  /** The moved items of each task at the last check. */
  readonly #moved = new Map<string, number>();
  /** Calls that may have begun a task. */
  #calls = 0;
  /** Ids of tasks that were listed. */
  readonly #listed = new Set<string>();
  /** Ids of acknowledged tasks; `null` = the database may have lost some. */
  #acknowledged: Set<string> | null = new Set();

  constructor(options: TaskCallsOptions) {
    this.#options = options;
  }

  start(): void {
    const { auditor, repeatable, log, now, endingText, situations } = this.#options;
    const plan = this.#plan();
    const task = auditor.taskBegun(plan);
    this.#calls += 1;
    log(`task ${JSON.stringify(plan)}`);
    repeatable({
      what: "task",
      queue: plan.queue,
      timeoutMs: limits.requestTimeoutMsDefault,
      isAnsweredLater: true,
      send: (key) => this.#begin(plan, key),
      sendOther: (key) => this.#begin(plan, { limit: 1, ...key }),
      ended: (ending) => {
        log(`  task of ${plan.queue}: ${endingText(ending)}`);
        auditor.taskEnded(task, ending, now());
        if (ending === null) situations.reached("it is unknown whether a task has begun");
        if (ending?.ok === true) this.#acknowledged?.add(ending.value.taskId);
        if (ending?.ok === true && plan.queue === "plain" && plan.action === "reject") {
          throw new Violation("I22", "items without a dead queue were rejected");
        }
      },
    });
  }

  #plan(): TaskPlan {
    const { chance, retriesLeased, prioritizes } = this.#options;
    if (retriesLeased && chance.hits(400)) return this.#planOfHeld();
    if (prioritizes && chance.hits(400)) return this.#planOfPriority();
    const queue = chance.one(["orders", "orders", "plain", "dead", "dead"]);
    const action: TaskAction =
      queue === "dead"
        ? chance.one(["redrive", "redrive", "redrive", "delete"])
        : chance.one(["promote", "promote", "reject", "delete"]);
    const isWhole = action === "promote" || action === "redrive";
    return {
      ...{ queue, action },
      kind: isWhole ? chance.one([null, null, "kind"]) : chance.one([null, "kind", ""]),
      state: isWhole ? null : chance.one([null, "ready", "scheduled"] as const),
      ...{ holder: null, priority: null },
      perSecond: chance.one([null, null, 1, 20]),
    };
  }

  #planOfPriority(): TaskPlan {
    const { chance } = this.#options;
    return {
      ...{ queue: chance.one(["orders", "orders", "plain", "dead"]), action: "prioritize" },
      kind: chance.one([null, null, "kind"]),
      state: chance.one([null, "ready", "scheduled"] as const),
      holder: null,
      priority: chance.one([0, 5, 7, 9]),
      perSecond: chance.one([null, null, 1, 20]),
    };
  }

  #planOfHeld(): TaskPlan {
    const { chance } = this.#options;
    return {
      ...{ queue: chance.one(["orders", "orders", "plain", "dead"]), action: "retry" },
      kind: chance.one([null, null, "kind"]),
      state: chance.one([null, "leased"] as const),
      holder: chance.one([null, "client-0", "client-1"]),
      priority: null,
      perSecond: chance.one([null, null, 1]),
    };
  }

  #begin(
    plan: TaskPlan,
    guard: Pick<TaskRequest, "dryRun" | "limit" | "ids"> & Repeatable,
  ): Promise<TaskBegun> {
    const { queue, action, kind, state, holder, priority, perSecond } = plan;
    const { engine } = this.#options.bundle();
    const filter = kind === null ? {} : { kind };
    const which = guard.ids === undefined ? { filter } : {};
    const request = { queue, ...which, ...(perSecond !== null && { perSecond }), ...guard };
    if (action === "redrive") return engine.redrive(request);
    const reason = action === "reject" || action === "retry" ? { reason: handReason } : {};
    const whose = holder === null ? {} : { holder };
    const what = priority === null ? {} : { priority };
    return engine.repair({ ...request, action, state, ...whose, ...reason, ...what });
  }

  /**
   * The progress of a task never decreases. A call begins at most one task, and an acknowledged
   * task is listed.
   */
  watch(): void {
    const tasks = this.#options.bundle().engine.listTasks();
    for (const { taskId, moved, state } of tasks) {
      this.#listed.add(taskId);
      const before = this.#moved.get(taskId) ?? 0;
      if (moved < before) throw new Violation("I22", `${taskId} had ${before} moved, now ${moved}`);
      this.#moved.set(taskId, moved);
      if (state === "done" && moved > 0) this.#options.situations.reached("a task is done");
    }
    if (this.#listed.size > this.#calls) {
      throw new Violation("I22", `${this.#listed.size} tasks were begun by ${this.#calls} calls`);
    }
    // At this number, the oldest finished tasks are forgotten.
    if (tasks.length >= limits.tasksMax) return;
    const lost = this.#acknowledged?.difference(new Set(tasks.map(({ taskId }) => taskId))) ?? [];
    for (const taskId of lost) throw new Violation("I22", `${taskId} has begun, but is not listed`);
  }

  /** The database has lost its latest commits. */
  wentBack(): void {
    this.#moved.clear();
    this.#acknowledged = null;
  }

  /** Call after a time without faults. */
  checkEnded(): void {
    this.watch();
    for (const { taskId, state } of this.#options.bundle().engine.listTasks()) {
      if (state === "running") throw new Violation("I22", `${taskId} does not end`);
    }
  }

  /** While nothing else happens, a task acts on exactly the items that a filter selects. */
  async check(): Promise<void> {
    const { auditor, situations, now, rest } = this.#options;
    const bundle = this.#options.bundle();
    if (bundle.engine.listTasks().some(({ state }) => state === "running")) return;
    const plan: TaskPlan = { ...this.#plan(), perSecond: null };
    if (plan.queue === "plain" && plan.action === "reject") return;
    const before = await this.#list(plan.queue);
    const all = before.filter((item) => isMeant(plan, item));
    // Some tasks name ids, of consecutive items and of others.
    const isNamed = before.length % 2 === 1 && all.length > 0;
    const meant = isNamed ? all.filter((_, at) => at % 3 !== 1) : all;
    const ids = isNamed ? { ids: meant.map(({ id }) => id) } : {};
    const dry = await bundle.run(() => this.#begin(plan, { dryRun: true, ...ids }));
    const task = auditor.taskBegun(plan);
    this.#calls += 1;
    const begun = await bundle.ending(() => this.#begin(plan, ids));
    auditor.taskEnded(task, begun, now());
    if (!begun.ok) throw new Violation("I22", `a task is refused, ${begun.message}`);
    await rest();
    const { state, moved, skipped } = bundle.engine.taskInfo(begun.value.taskId);
    const counts = [dry.matched, begun.value.matched, moved + skipped];
    if (state !== "done" || counts.some((count) => count !== meant.length)) {
      throw new Violation(
        "I22",
        `${JSON.stringify(plan)} is ${state}, ${counts} of ${meant.length} items`,
      );
    }
    const after = await this.#list(plan.queue);
    const left = new Set(after.map(({ id }) => id));
    const changed = meant.filter(({ priority }) => priority !== plan.priority);
    const gone = new Set(changed.map(({ id }) => id));
    const isRight = ({ id }: FoundItem): boolean => left.has(id) !== gone.has(id);
    // Waiting leases may take items that became ready, but leased items keep their ids.
    const wrong = before.find((item) => !isRight(item));
    if (wrong !== undefined && skipped === 0) {
      throw new Violation("I22", `${JSON.stringify(plan)} has a wrong result for ${wrong.id}`);
    }
    if (plan.action === "prioritize") checkPrioritized(plan, changed, after);
    if (moved > 0) situations.reached(`a task ends at rest: ${plan.action}`);
    if (moved > 2 && isNamed) situations.reached("a task acts on items named by id");
    if (plan.action === "delete") for (const { payload } of meant) auditor.deleted(payload);
  }

  async #list(queue: string): Promise<readonly FoundItem[]> {
    const { engine } = this.#options.bundle();
    const request = { queue, pivot: "", limit: 1_000, filter: {}, payloadHead: 100 };
    const items: FoundItem[] = [];
    let pivot = "";
    do {
      const page = await this.#options.bundle().run(() => engine.findItems({ ...request, pivot }));
      items.push(...page.found);
      pivot = page.nextPivot;
    } while (pivot !== "");
    return items;
  }
}

/** Apart from its priority and its id, an item stays as it was. */
function checkPrioritized(
  plan: TaskPlan,
  before: readonly FoundItem[],
  after: readonly FoundItem[],
): void {
  const keyOf = ({ payload }: FoundItem) => new TextDecoder().decode(payload).split("|", 1)[0];
  const found = new Map(after.map((item) => [keyOf(item), item]));
  for (const item of before) {
    const now = found.get(keyOf(item));
    // It may have expired since.
    if (now === undefined) continue;
    const isStill = now.state === item.state && now.attempts === item.attempts;
    const wanted = JSON.stringify([plan.priority, ...kept(item, isStill)]);
    const got = JSON.stringify([now.priority, ...kept(now, isStill)]);
    if (got !== wanted) throw new Violation("I22", `${keyOf(item)} is ${got}, not ${wanted}`);
  }
}

/** `isStill`: it was not leased since, nor due. */
function kept({ id, createdAt, expireDeadline, enqueueAt, past }: FoundItem, isStill: boolean) {
  const always = [past?.origin ?? id, past?.reason, createdAt, expireDeadline];
  return isStill ? [...always, enqueueAt, past?.rank] : always;
}

function isMeant({ action, kind, state, holder }: TaskPlan, item: FoundItem): boolean {
  const states: Readonly<Record<TaskAction, readonly string[]>> = {
    redrive: ["ready"],
    promote: ["scheduled"],
    reject: ["ready", "scheduled"],
    retry: ["leased"],
    prioritize: ["ready", "scheduled"],
    delete: ["ready", "scheduled"],
  };
  const isOfState = state === null ? states[action].includes(item.state) : item.state === state;
  const isOf = holder === null || item.holder === holder;
  return isOfState && isOf && (kind === null || item.kind === kind);
}
