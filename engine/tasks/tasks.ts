// Tasks: work that takes longer than one call. A task requests one piece after the other from the
// shard. Its progress is in the shard's store, so it outlives the process.

import type { StoredTask } from "../../stores/store.ts";
import type { Search } from "../insight/search.ts";
import type * as api from "../model/api.ts";
import { assert } from "../model/assert.ts";
import type { Clock } from "../model/clock.ts";
import { countChanged, failure, lateLong, noSuchTask, QueueError } from "../model/errors.ts";
import type { Filter } from "../model/filter.ts";
import { type IdempotencyKey, idempotencyKey, keyTaken } from "../model/idempotency-key.ts";
import { limits } from "../model/limits.ts";
import { checkRepair, checkTask, repairStates, unknownQueue } from "../model/validate.ts";
import type { Request } from "../operations.ts";
import type { Catalog } from "../state/catalog.ts";
import type { LogicalQueue } from "../state/queue.ts";
import type { Timing } from "../turn/inbox.ts";
import { type Shard, succeeded } from "../turn/shard.ts";
import { type Marks, type Progress, progressKey } from "./task.ts";
import { type Deed, nothingMore, type TaskPiece } from "./task-piece.ts";

/** The stored form of a task. */
interface Definition {
  readonly taskId: string;
  readonly action: api.TaskAction;
  readonly queue: string;
  /** For a redrive; `""` = each item goes to the queue that it came from. */
  readonly to: string;
  /** For a reject or a retry; `""` = none. */
  readonly reason: string;
  /** For a retry; `""` = any holder. */
  readonly holder: string;
  /** For `prioritize`; otherwise 0. */
  readonly priority: number;
  readonly filter: Filter;
  readonly limit: number;
  readonly perSecond: number;
  readonly matched: number;
  readonly destinations: readonly api.Destination[];
  /** The person or program that requested it; `""` = not recorded. */
  readonly by: string;
  readonly createdAt: number;
  /** Digest of the request's key; `""` = no key. */
  readonly digest: string;
  readonly fingerprint: string;
  readonly state: api.TaskState;
  readonly endedAt: number | null;
}

interface Plan extends Pick<Definition, "action" | "to" | "reason" | "holder" | "priority"> {
  readonly states: readonly api.ItemState[];
}

interface Running {
  definition: Definition;
  progress: Progress;
  /** `#pieces` is running. */
  isDriven: boolean;
  /** Pending cancellations: no further piece is requested. */
  holds: number;
}

/** A task whose items are still being counted. */
interface Starting extends Pick<Definition, "fingerprint"> {
  readonly begun: Promise<api.TaskBegun>;
}

const destinationsMax = 10;

const unkeyed = { digest: "", fingerprint: "" };

const nothing: Progress = { spans: [], moved: 0, skipped: 0 };

export interface TasksOptions {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly shard: () => Shard;
  readonly shardCount: number;
  readonly search: Search;
  readonly receiptsWindowMs: number;
}

export class Tasks {
  readonly #options: TasksOptions;
  readonly #tasks = new Map<string, Running>();
  /** By the digest of their key. */
  readonly #starting = new Map<string, Starting>();
  #isClosing = false;
  #created = 0;

  constructor(options: TasksOptions) {
    this.#options = options;
  }

  /** Loads stored tasks. Progress without a task is of one that never began, and is removed. */
  adopt(stored: readonly StoredTask[]): void {
    const texts = new Map(stored.map(({ taskId, text }) => [taskId, text]));
    for (const [taskId, text] of texts) {
      const [name = "", part] = taskId.split(".");
      if (part !== undefined) {
        if (!texts.has(name)) void this.#store(taskId, "").catch(() => undefined);
        continue;
      }
      const definition = JSON.parse(text) as Definition;
      const progress = progressIn(texts.get(progressKey(taskId)) ?? "");
      this.#tasks.set(taskId, { definition, progress, isDriven: false, holds: 0 });
    }
    for (const running of this.#tasks.values()) this.#run(running);
  }

  async redrive(queue: LogicalQueue, request: api.RedriveRequest): Promise<api.TaskBegun> {
    checkTask(request, "redrive");
    const { to = "" } = request;
    this.#requireKnown({ action: "redrive", to });
    if (to !== "" && this.#options.catalog.targetOf(to) === null) unknownQueue(to);
    const none = { reason: "", holder: "", priority: 0 };
    const plan = { action: "redrive", to, ...none, states: ["ready"] } as const;
    return this.#start(queue, request, plan);
  }

  async repair(queue: LogicalQueue, request: api.RepairRequest): Promise<api.TaskBegun> {
    checkRepair(request);
    const { action, reason = "", holder = "", priority = 0, state } = request;
    if (action === "reject" && queue.definition.deadQueue === "") {
      throw QueueError.from(noDeadQueue(queue.definition.name));
    }
    const states = state == null ? repairStates[action] : [state];
    return this.#start(queue, request, { action, to: "", reason, holder, priority, states });
  }

  /** A repeated request with a key returns the task that has begun or is counting its items. */
  async #start(
    queue: LogicalQueue,
    { by = "", ...request }: api.TaskRequest,
    plan: Plan,
  ): Promise<api.TaskBegun> {
    const { requestKey } = request;
    if (requestKey === undefined) {
      return this.#startNew(queue, request, { ...plan, ...unkeyed, by });
    }
    const operation = plan.action === "redrive" ? "redrive" : "repair";
    const argumentsText = JSON.stringify({ ...request, queue: 0 });
    const key = idempotencyKey(requestKey, { queue: queue.lasting, operation, argumentsText });
    const { digest, fingerprint } = key;
    const before = this.#rememberedFor(key);
    const starting = this.#starting.get(digest);
    if ((before ?? starting ?? key).fingerprint !== fingerprint) {
      throw QueueError.from(keyTaken(key));
    }
    if (before !== undefined) {
      const { taskId, matched, destinations } = before;
      return { taskId, matched, destinations, replayed: true };
    }
    if (starting !== undefined) return { ...(await starting.begun), replayed: true };
    const begun = this.#startNew(queue, request, { ...plan, by, digest, fingerprint });
    this.#starting.set(digest, { fingerprint, begun });
    try {
      return await begun;
    } finally {
      this.#starting.delete(digest);
    }
  }

  /** Tasks are remembered as long as receipts. */
  #rememberedFor({ digest }: IdempotencyKey): Definition | undefined {
    const { clock, receiptsWindowMs } = this.#options;
    const since = clock.now() - receiptsWindowMs;
    return this.#tasks
      .values()
      .map(({ definition }) => definition)
      .find((task) => task.digest === digest && task.createdAt > since);
  }

  async #startNew(
    queue: LogicalQueue,
    request: api.TaskRequest,
    { states, ...plan }: Plan & Pick<Definition, "by" | "digest" | "fingerprint">,
  ): Promise<api.TaskBegun> {
    const { ids, filter = {}, limit = Number.MAX_SAFE_INTEGER, perSecond = 0 } = request;
    const marks = ids === undefined ? wholeOf(queue, states) : this.#spansOf(queue, ids, states);
    const spans = ids === undefined ? null : marks;
    const { holder } = plan;
    const counts = await this.#options.search.count(queue, { filter, states, holder, spans });
    const counted = counts.values().reduce((sum, count) => sum + count, 0);
    const matched = Math.min(counted, limit);
    const destinations = this.#destinations(queue, plan, counts);
    if (request.dryRun === true) return { taskId: "", matched, destinations, replayed: false };
    const { expect = matched } = request;
    if (matched > expect)
      throw QueueError.from(countChanged(matched, expect, { verb: done[plan.action] }));
    const taskId = this.#newId();
    const definition: Definition = {
      ...{
        ...plan,
        queue: queue.definition.name,
        taskId,
        filter,
        perSecond,
        matched,
        destinations,
      },
      // Items that arrived after the count must not exceed the expectation.
      limit: Math.min(limit, request.expect ?? limit),
      ...{ createdAt: this.#options.clock.now(), state: "running", endedAt: null },
    };
    await this.#begin(definition, marks);
    return { taskId, matched, destinations, replayed: false };
  }

  /** `counts`: items by the queue that they came from; `""` = that queue no longer exists. */
  #destinations(
    queue: LogicalQueue,
    { action, to }: Pick<Plan, "action" | "to">,
    counts: ReadonlyMap<string, number>,
  ): readonly api.Destination[] {
    const count = counts.values().reduce((sum, one) => sum + one, 0);
    const allTo = (name: string) => (name === "" ? [] : [{ queue: name, count }]);
    switch (action) {
      case "redrive": {
        if (to !== "") return allTo(to);
        const all = [...counts].map(([name, of]) => ({ queue: name, count: of }));
        const { stay = [], go = [] } = Object.groupBy(all, (one) =>
          one.queue === "" ? "stay" : "go",
        );
        return [...go.sort((a, b) => b.count - a.count).slice(0, destinationsMax), ...stay];
      }
      case "reject":
        return allTo(queue.definition.deadQueue);
      case "promote":
      case "retry":
      case "prioritize":
      case "delete":
        return [];
    }
  }

  /** Ids of other queues are ignored. */
  #spansOf(queue: LogicalQueue, ids: readonly string[], states: readonly api.ItemState[]): Marks {
    const { catalog, shard } = this.#options;
    const { epochs } = shard();
    const named = [...new Set(ids)].flatMap((id) => catalog.placeIn(queue, id, epochs) ?? []);
    const ranges = rangesOf(named);
    const spans = states.flatMap((state) =>
      ranges.map((range) => ({ ...range, aside: state === "scheduled" })),
    );
    return { owner: queue.owner, slots: [], states, spans };
  }

  /** Unique across shards. The clock may have been set back since the last one. */
  #newId(): string {
    const { clock, shard, shardCount } = this.#options;
    for (;;) {
      this.#created += 1;
      const number = this.#created * shardCount + shard().shard;
      const id = `r${clock.now().toString(36)}${number.toString(36)}`;
      if (!this.#tasks.has(id)) return id;
    }
  }

  /** Marks first, definition last; the next start removes marks without a definition. */
  async #begin(definition: Definition, marks: Marks): Promise<void> {
    const { taskId } = definition;
    await this.#makeRoom();
    const begun = await this.#ask({ kind: "taskBegin", taskId: progressKey(taskId), ...marks });
    await this.#store(taskId, JSON.stringify(definition));
    const progress = progressIn(begun.text);
    const running = { definition, progress, isDriven: false, holds: 0 };
    this.#tasks.set(taskId, running);
    this.#run(running);
  }

  /** Removes the oldest ended task if there are too many. */
  async #makeRoom(): Promise<void> {
    const { running = [], ended = [] } = this.#newest(() => true);
    if (running.length >= limits.tasksMax) throw QueueError.from(tooManyTasks);
    if (this.#tasks.size < limits.tasksKeptMax) return;
    const oldest = ended.at(-1);
    assert(oldest !== undefined, "more tasks are kept than run");
    const { taskId } = oldest.definition;
    await this.#store(progressKey(taskId), "");
    await this.#store(taskId, "");
    this.#tasks.delete(taskId);
  }

  async #store(taskId: string, text: string): Promise<void> {
    await this.#ask({ kind: "task", taskId, text });
  }

  async #ask(request: Request) {
    const value = succeeded(await this.#options.shard().ask(request, this.#timing()));
    assert(value.kind === "task", "a shard answered a task with something else");
    return value;
  }

  #timing(): Timing {
    const { machine } = this.#options.clock;
    return { deadline: machine.now() + limits.requestTimeoutMsDefault, late: lateLong };
  }

  /** Runs the task until it has ended, or the engine is closed. */
  #run(running: Running): void {
    if (running.isDriven) return;
    running.isDriven = true;
    void this.#pieces(running).catch(() => {
      // The store or the shard failed, and reports that itself.
      if (this.#isClosing) return;
      const { machine } = this.#options.clock;
      machine.at(machine.now() + limits.taskAgainMs, () => this.#run(running));
    });
  }

  async #pieces(running: Running): Promise<void> {
    try {
      while (!this.#isClosing && running.holds === 0 && running.definition.state === "running") {
        const { spans, moved: before } = running.progress;
        const left = running.definition.limit - before;
        this.#requireKnown(running.definition);
        if (spans.length === 0 || left <= 0) await this.#end(running, "done");
        else if (!this.#isPossible(running.definition)) await this.#end(running, "failed");
        else {
          await this.#piece(running, left);
          await this.#pause(running.definition, running.progress.moved - before);
        }
      }
    } finally {
      running.isDriven = false;
    }
  }

  async #piece(running: Running, left: number): Promise<void> {
    const { filter, perSecond } = running.definition;
    const most =
      perSecond === 0 ? limits.taskPieceItems : Math.min(perSecond, limits.taskPieceItems);
    const wanted = { limit: Math.min(left, most), scanMax: limits.taskPieceItems };
    await this.#askPiece(running, { deed: deedOf(running.definition), filter, ...wanted });
  }

  async #askPiece(running: Running, piece: Omit<TaskPiece, "kind" | "taskId">): Promise<void> {
    const taskId = progressKey(running.definition.taskId);
    const { text } = await this.#ask({ kind: "taskPiece", taskId, ...piece });
    running.progress = progressIn(text);
  }

  /** `false` = the destination of all items was deleted. */
  #isPossible({ to }: Definition): boolean {
    return to === "" || this.#options.catalog.targetOf(to) !== null;
  }

  /** Throws `not_ready` while it is unknown whether a destination exists. */
  #requireKnown({ action, to }: Pick<Plan, "action" | "to">): void {
    const { catalog } = this.#options;
    if (action !== "redrive") return;
    if (to === "") catalog.requireAllKnown();
    else catalog.requireKnown(to);
  }

  /** Limits the rate to `perSecond`. */
  #pause({ perSecond }: Definition, moved: number): Promise<void> {
    if (perSecond === 0 || moved === 0) return Promise.resolve();
    const { machine } = this.#options.clock;
    return new Promise((resolve) => {
      machine.at(machine.now() + (moved * 1_000) / perSecond, resolve);
    });
  }

  async #end(running: Running, state: api.TaskState): Promise<void> {
    if (running.definition.state !== "running") return;
    const { definition } = running;
    running.definition = { ...definition, state, endedAt: this.#options.clock.now() };
    try {
      await this.#store(definition.taskId, JSON.stringify(running.definition));
    } catch (cause) {
      running.definition = definition;
      throw cause;
    }
  }

  /** Newest first. */
  list(queue?: string): api.TaskInfo[] {
    return this.#listed((task) => queue === undefined || task.queue === queue);
  }

  /** Newest first. */
  running(): api.TaskInfo[] {
    return this.#listed(({ state }) => state === "running");
  }

  #newest(isMeant: (definition: Definition) => boolean) {
    const meant = this.#tasks.values().filter(({ definition }) => isMeant(definition));
    return Object.groupBy([...meant].sort(newestFirst), ({ definition }) =>
      definition.state === "running" ? "running" : "ended",
    );
  }

  #listed(isMeant: (definition: Definition) => boolean): api.TaskInfo[] {
    const { running = [], ended = [] } = this.#newest(isMeant);
    const listed = [...running, ...ended.slice(0, limits.tasksMax - running.length)];
    return listed.sort(newestFirst).map(infoOf);
  }

  info(taskId: string): api.TaskInfo {
    return infoOf(this.#find(taskId));
  }

  /** Ends the task; items already moved stay where they are. */
  async cancel(taskId: string): Promise<api.TaskInfo> {
    const running = this.#find(taskId);
    running.holds += 1;
    try {
      await this.#settle(running);
      await this.#end(running, "cancelled");
    } finally {
      running.holds -= 1;
      // The task may have stopped for an end that could not be written.
      this.#run(running);
    }
    return infoOf(running);
  }

  /** Waits for the shard to finish the current piece: it answers in order. */
  async #settle(running: Running): Promise<void> {
    const isAtWork = running.definition.state === "running" && running.progress.spans.length > 0;
    if (isAtWork) await this.#askPiece(running, nothingMore);
  }

  #find(taskId: string): Running {
    const running = this.#tasks.get(taskId);
    if (running !== undefined) return running;
    throw QueueError.from(noSuchTask(taskId));
  }

  close(): void {
    this.#isClosing = true;
  }
}

const done = {
  redrive: "moved",
  promote: "promoted",
  reject: "rejected",
  retry: "retried",
  prioritize: "prioritized",
  delete: "removed",
} as const satisfies Record<api.TaskAction, string>;

function deedOf({ action, to, reason, holder, priority }: Definition): Deed {
  switch (action) {
    case "redrive":
      return { action, to };
    case "reject":
      return { action, reason };
    case "retry":
      return { action, holder, reason };
    case "prioritize":
      return { action, priority };
    case "promote":
    case "delete":
      return { action };
  }
}

function noDeadQueue(name: string) {
  return failure("no_dead_queue", `items cannot be rejected; queue '${name}' has no dead queue`);
}

const tooManyTasks = failure(
  "full",
  `too many tasks are running; there cannot be more than ${limits.tasksMax}, try again later`,
);

function newestFirst(a: Running, b: Running): number {
  return b.definition.createdAt - a.definition.createdAt;
}

/** `""` = nothing is left of it. */
function progressIn(text: string): Progress {
  return text === "" ? nothing : (JSON.parse(text) as Progress);
}

function infoOf(running: Running): api.TaskInfo {
  const { taskId, action, queue, to, holder, priority, filter } = running.definition;
  const { perSecond, matched, by, createdAt, state, endedAt } = running.definition;
  const { moved, skipped } = running.progress;
  const counts = { matched, moved, skipped };
  const about = { taskId, action, queue, to, holder, priority, filter, perSecond };
  return { ...about, ...counts, by, createdAt, state, endedAt };
}

/** In the given order; consecutive numbers form one range. */
function rangesOf(places: readonly { readonly slot: number; readonly seq: number }[]) {
  const ranges: { readonly slot: number; readonly next: number; before: number }[] = [];
  for (const { slot, seq } of places) {
    const last = ranges.at(-1);
    if (last?.slot === slot && last.before === seq) last.before = seq + 1;
    else ranges.push({ slot, next: seq, before: seq + 1 });
  }
  return ranges;
}

function wholeOf({ owner, slots }: LogicalQueue, states: readonly api.ItemState[]): Marks {
  return { owner, slots, states, spans: [] };
}
