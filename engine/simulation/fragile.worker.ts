// A shard's worker that breaks in the way its configuration names, once, at the
// commit it names: for tests of what the engine makes of it.

import { existsSync, writeFileSync } from "node:fs";
import type { Backend } from "../../stores/backend.ts";
import { openStore, type StoreConfig } from "../../stores/open.ts";
import { type Changes, StoreError, type Written } from "../../stores/store.ts";
import { renderLeased } from "../codec.ts";
import { newTag } from "../ids.ts";
import { systemRandom } from "../random.ts";
import { runShardWorker } from "../shard/run-worker.ts";

export type Breakage =
  | "throw before the commit"
  | "throw after the commit"
  | "store fails before the commit"
  | "store fails after the commit"
  | "exit before the commit"
  | "exit after the commit"
  | "hang before the commit"
  | "hang after the commit";

export interface FragileConfig {
  readonly store: StoreConfig;
  readonly breakage: Breakage;
  /** Counted over all commits of the worker, from 1; 0 = it does not break. */
  readonly atCommit: number;
  /** It says nothing before this file is there; `""` = it waits for none. */
  readonly opensAfter: string;
  /** A file that is written at the breakage, so that the next worker does not break again. */
  readonly brokenOnce: string;
}

function breakDown(breakage: Breakage, mark: string): void {
  writeFileSync(mark, "");
  if (breakage.startsWith("store")) throw new StoreError("failed", "made to fail");
  if (breakage.startsWith("exit")) process.exit(7);
  if (breakage.startsWith("hang")) for (;;);
  // Outside of the shard, where nothing catches it.
  queueMicrotask(() => {
    throw new Error("made to throw");
  });
}

function fragile(backend: Backend, { breakage, atCommit, brokenOnce }: FragileConfig): Backend {
  const { store } = backend;
  let commits = 0;
  const commit = async (changes: Changes): Promise<Written> => {
    commits += 1;
    const now = commits === atCommit && !existsSync(brokenOnce);
    if (now && breakage.endsWith("before the commit")) {
      breakDown(breakage, brokenOnce);
      await new Promise(() => undefined);
    }
    const written = await store.commit(changes);
    if (now) {
      breakDown(breakage, brokenOnce);
      await new Promise(() => undefined);
    }
    return written;
  };
  return {
    ...backend,
    store: {
      load: (what) => store.load(what),
      read: (wants) => store.read(wants),
      commit,
      close: () => store.close(),
    },
  };
}

runShardWorker<FragileConfig>({
  openStore: async (config, shard) => {
    const { opensAfter } = config;
    const never = new Int32Array(new SharedArrayBuffer(4));
    while (opensAfter !== "" && !existsSync(opensAfter)) Atomics.wait(never, 0, 0, 5);
    return fragile(await openStore(config.store, shard, () => newTag(systemRandom)), config);
  },
  renderLeased,
});
