// The engine of a shard while the shard changes hands: each call goes to the engine that this node
// has for the shard at that moment, or is refused.

import type { Engine, EngineStatus } from "../../engine/model/api.ts";
import { failure, noTestClock, QueueError } from "../../engine/model/errors.ts";

type Of<Method extends keyof Engine<string>> = Engine<string>[Method];

/** The router then sends the call to the owner of the shard. */
const notOwned = failure(
  "shutting_down",
  "this node does not own the shard of the queue; nothing was changed",
);

export class CurrentEngine implements Engine<string> {
  readonly #current: () => Engine<string> | undefined;
  readonly #statusElsewhere: EngineStatus;

  /** `statusElsewhere`: the status while this node does not own the shard. */
  constructor(current: () => Engine<string> | undefined, statusElsewhere: EngineStatus) {
    this.#current = current;
    this.#statusElsewhere = statusElsewhere;
  }

  get #engine(): Engine<string> {
    const engine = this.#current();
    if (engine === undefined) throw QueueError.from(notOwned);
    return engine;
  }

  produce: Of<"produce"> = (request) => this.#engine.produce(request);
  transact: Of<"transact"> = (request) => this.#engine.transact(request);
  lease: Of<"lease"> = (request) => this.#engine.lease(request);
  complete: Of<"complete"> = (request) => this.#engine.complete(request);
  retry: Of<"retry"> = (request) => this.#engine.retry(request);
  extend: Of<"extend"> = (request) => this.#engine.extend(request);
  release: Of<"release"> = (request) => this.#engine.release(request);
  listQueues: Of<"listQueues"> = (request) => this.#engine.listQueues(request);
  createQueue: Of<"createQueue"> = (...given) => this.#engine.createQueue(...given);
  updateQueue: Of<"updateQueue"> = (...given) => this.#engine.updateQueue(...given);
  queueInfo: Of<"queueInfo"> = (name) => this.#engine.queueInfo(name);
  deleteQueue: Of<"deleteQueue"> = (...given) => this.#engine.deleteQueue(...given);
  pause: Of<"pause"> = (request) => this.#engine.pause(request);
  resume: Of<"resume"> = (queue) => this.#engine.resume(queue);
  stats: Of<"stats"> = (queue) => this.#engine.stats(queue);
  series: Of<"series"> = (request) => this.#engine.series(request);
  inspect: Of<"inspect"> = (...given) => this.#engine.inspect(...given);
  explain: Of<"explain"> = (...given) => this.#engine.explain(...given);
  clients: Of<"clients"> = (request) => this.#engine.clients(request);
  overview: Of<"overview"> = (...given) => this.#engine.overview(...given);
  clear: Of<"clear"> = (request) => this.#engine.clear(request);
  reload: Of<"reload"> = (queue) => this.#engine.reload(queue);
  listItems: Of<"listItems"> = (request) => this.#engine.listItems(request);
  listScheduled: Of<"listScheduled"> = (request) => this.#engine.listScheduled(request);
  importItems: Of<"importItems"> = (request) => this.#engine.importItems(request);
  deleteItems: Of<"deleteItems"> = (request) => this.#engine.deleteItems(request);
  cancelItems: Of<"cancelItems"> = (request) => this.#engine.cancelItems(request);
  listGroups: Of<"listGroups"> = (request) => this.#engine.listGroups(request);
  setGroup: Of<"setGroup"> = (change) => this.#engine.setGroup(change);
  findItems: Of<"findItems"> = (request) => this.#engine.findItems(request);
  summarizeItems: Of<"summarizeItems"> = (request) => this.#engine.summarizeItems(request);
  redrive: Of<"redrive"> = (request) => this.#engine.redrive(request);
  repair: Of<"repair"> = (request) => this.#engine.repair(request);
  listTasks: Of<"listTasks"> = (queue) => this.#engine.listTasks(queue);
  taskInfo: Of<"taskInfo"> = (taskId) => this.#engine.taskInfo(taskId);
  cancelTask: Of<"cancelTask"> = (taskId) => this.#engine.cancelTask(taskId);
  getItem: Of<"getItem"> = (...given) => this.#engine.getItem(...given);
  explainItem: Of<"explainItem"> = (id) => this.#engine.explainItem(id);
  backup: Of<"backup"> = (folder) => this.#engine.backup(folder);
  requireQueue: Of<"requireQueue"> = (...given) => this.#engine.requireQueue(...given);
  close: Of<"close"> = () => this.#engine.close();

  status(): EngineStatus {
    return this.#current()?.status() ?? this.#statusElsewhere;
  }

  async advance(): Promise<never> {
    throw QueueError.from(noTestClock);
  }
}
