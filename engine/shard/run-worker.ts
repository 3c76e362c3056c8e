// Joins a shard to the messages of its worker. A worker's module calls it with
// what it alone may choose: how to open a store, and how leased items are told.

import type { Backend } from "../../stores/backend.ts";
import { StoreError } from "../../stores/store.ts";
import type { LeasedItem } from "../api.ts";
import { sharedClock, systemClock, TestClock } from "../clock.ts";
import { decodeRequests, encodeOpened, encodeReport } from "../codec.ts";
import type { FromWorker, ToWorker } from "../link.ts";
import { Shard } from "./shard.ts";

export interface ShardWorkerOptions<Config> {
  readonly openStore: (config: Config, shard: number) => Promise<Backend>;
  readonly renderLeased: (items: readonly LeasedItem[]) => string;
}

declare const self: Worker;

function say(message: FromWorker): void {
  self.postMessage(message);
}

/** For the engine's log; nothing but the messages leaves the thread. */
function sayFailed(cause: unknown): void {
  const fault = cause instanceof StoreError ? cause.fault : null;
  const message = cause instanceof Error ? cause.message : String(cause);
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause.message : "";
  // Who has the lock is all there is to say of it.
  const detail = inner === "" || fault === "locked" ? "" : `; ${inner}`;
  say({ kind: "failed", message: message + detail, fault });
}

export function runShardWorker<Config>({
  openStore,
  renderLeased,
}: ShardWorkerOptions<Config>): void {
  let shard: Shard | null = null;
  let backend: Backend | null = null;

  const fail = (cause: unknown): void => {
    // Closed first: an unfinished commit must be settled before anyone looks what became of it.
    const closing = backend === null ? Promise.resolve() : backend.store.close();
    closing.catch(() => undefined).then(() => sayFailed(cause), sayFailed);
  };

  const open = async (
    shardNumber: number,
    { config, limits, testNow, aheadMs }: Omit<Extract<ToWorker<Config>, { kind: "open" }>, "kind">,
  ): Promise<void> => {
    const machine = aheadMs === null ? systemClock() : sharedClock(aheadMs);
    const clock = testNow === null ? machine : new TestClock(machine, testNow);
    backend = await openStore(config, shardNumber);
    const opened = await Shard.open({
      shard: shardNumber,
      backend,
      clock,
      limits,
      renderLeased,
      report: (report) => say(encodeReport(report)),
      fail,
    });
    shard = opened.shard;
    say({ kind: "opened", text: encodeOpened(opened.opened) });
  };

  self.onmessage = (event: MessageEvent<ToWorker<Config>>) => {
    const message = event.data;
    switch (message.kind) {
      case "open":
        open(message.shard, message).catch(fail);
        return;
      case "requests":
        shard?.submit(decodeRequests(message.text, message.opFirst));
        return;
      case "ping":
        say({ kind: "pong" });
        return;
      case "close":
        (shard?.close() ?? Promise.resolve(true)).then((isWhole) => {
          // Else the failure is told.
          if (isWhole) say({ kind: "closed" });
        }, fail);
        return;
    }
  };
}
