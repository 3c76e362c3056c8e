// The reply of `server.overview`. Clients with the same `since` and the same rights share one text,
// which is rebuilt after the engine has examined its queues.

import type { Engine, EngineOverview, IsShown } from "../../engine/model/api.ts";
import type { OverviewAlarm, OverviewMachine } from "../../openapi/schemas.ts";
import {
  allQueues,
  isForAllQueues,
  type KeyIdentity,
  queuePatterns,
  visibleTo,
} from "../auth/key-rights.ts";
import { JsonText } from "../routes/route.ts";
import { overviewReply } from "../wire/monitoring.ts";

export const pollMsMin = 1_000;
const pollMsMax = 10_000;
/** Share of the time between two calls that building the replies may take. */
const shareMax = 0.01;
/** A disk with less free space raises the alarm `disk_low`. */
const diskFreeMin = 2 ** 30;
const diskFreeShareMin = 0.05;

export interface OverviewSource {
  readonly engine: Pick<Engine<string>, "overview">;
  readonly machine: () => OverviewMachine;
  /** Milliseconds from an arbitrary start, for measuring. */
  readonly now: () => number;
  /** Epoch milliseconds of the machine. */
  readonly machineNow: () => number;
}

export class OverviewReplies {
  readonly #source: OverviewSource;
  /** The inner key is the patterns of the queues that are visible. */
  readonly #texts = new WeakMap<EngineOverview, Map<string, string>>();
  /** How long building a text took recently. */
  #costMs = 0;

  constructor(source: OverviewSource) {
    this.#source = source;
  }

  /** A key for some queues sees only these, and sums over these. */
  reply(since: string, identity: KeyIdentity | null): JsonText {
    const begun = this.#source.now();
    const { engine } = this.#source;
    const { now, overview } = engine.overview(since);
    const texts = this.#texts.getOrInsertComputed(overview, () => new Map());
    const restricted = identity === null || isForAllQueues(identity, "read") ? null : identity;
    const seen = restricted === null ? allQueues : queuePatterns(restricted, "read").join();
    let text = texts.get(seen);
    if (text === undefined) {
      const isShown = restricted === null ? undefined : visibleTo(restricted);
      const shown = isShown ? engine.overview(since, isShown).overview : overview;
      text = this.#textOf(shown, isShown);
      texts.set(seen, text);
      const tookMs = this.#source.now() - begun;
      this.#costMs = Math.max(tookMs, (this.#costMs + tookMs) / 2);
    }
    return this.#withHead(now, text);
  }

  #withHead(now: number, text: string): JsonText {
    const head = {
      now: new Date(now).toISOString(),
      machine_now: new Date(this.#source.machineNow()).toISOString(),
      poll_after_ms: this.#pollAfterMs,
    };
    return new JsonText(`${JSON.stringify(head).slice(0, -1)},${text}`);
  }

  get #pollAfterMs(): number {
    const wanted = Math.ceil(this.#costMs / shareMax / pollMsMin) * pollMsMin;
    return Math.min(pollMsMax, Math.max(pollMsMin, wanted));
  }

  #textOf(overview: EngineOverview, isShown?: IsShown): string {
    const machine = this.#source.machine();
    const reply = overviewReply(overview, isShown);
    const alarms = [...diskAlarms(machine), ...reply.alarms];
    return JSON.stringify({ ...reply, alarms, machine }).slice(1);
  }
}

function diskAlarms({ disk_bytes, disk_free_bytes }: OverviewMachine): OverviewAlarm[] {
  const isLow = disk_free_bytes < diskFreeMin || disk_free_bytes < diskFreeShareMin * disk_bytes;
  if (disk_bytes === 0 || !isLow) return [];
  const mib = Math.floor(disk_free_bytes / 2 ** 20).toLocaleString("en-US");
  const text = `The disk that has the stores has ${mib} MiB left.`;
  return [{ kind: "disk_low", since: null, count: 1, queue_name: "", shard: -1, text }];
}
