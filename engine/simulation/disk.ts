// Stores of a world in SQLite files. To simulate a crash, the files are copied while the killed
// store still has them open, and the next process opens the copy.

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Backend } from "../../stores/backend.ts";
import { openSqliteStore } from "../../stores/sqlite/store.ts";
import { immediateSyncer } from "../../stores/sqlite/testing/immediate-syncer.ts";
import { memoryFolder } from "../../testing/memory-folder.ts";
import { newTag } from "../model/ids.ts";
import { seededRandom } from "./seeded-random.ts";

export interface WorldStores {
  readonly open: (shard: number) => Promise<Backend>;
  /** The number of files that were opened after a crash. */
  readonly images: number;
  readonly remove: () => Promise<void>;
}

interface Opened {
  /** `null` = it is still being opened. */
  backend: Backend | null;
  readonly path: string;
  isClosed: boolean;
}

export function openWorldStores(seed: number): WorldStores {
  const folder = mkdtempSync(join(memoryFolder(), "holdfast-world-"));
  const random = seededRandom(seed);
  const latest = new Map<number, Opened>();
  let opens = 0;
  let images = 0;

  const pathFor = (shard: number, before: Opened | undefined): string => {
    if (before?.isClosed === true) return before.path;
    opens += 1;
    const own = join(folder, String(opens));
    mkdirSync(own);
    const path = join(own, `shard-${shard}.db`);
    if (before === undefined) return path;
    for (const suffix of ["", "-wal"]) {
      if (existsSync(before.path + suffix)) copyFileSync(before.path + suffix, path + suffix);
    }
    images += 1;
    return path;
  };

  return {
    get images() {
      return images;
    },
    async open(shard) {
      const before = latest.get(shard);
      const path = pathFor(shard, before);
      // Before any wait: an opening that overlaps this one must find the files of the crash.
      const opened: Opened = { backend: null, path, isClosed: false };
      latest.set(shard, opened);
      if (before !== undefined && !before.isClosed) {
        await before.backend?.store.close();
        rmSync(before.path, { force: true });
      }
      const backend = await openSqliteStore({
        path,
        durability: "full",
        // Syncs that take time are simulated.
        syncer: immediateSyncer,
        newTag: () => newTag(random),
        acceptLogLoss: false,
        ballastBytes: 0,
      });
      opened.backend = backend;
      return closing(opened, backend);
    },
    async remove() {
      for (const { backend } of latest.values()) await backend?.store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Records a clean close, after which the files need not be copied. */
function closing(opened: Opened, backend: Backend): Backend {
  const { store } = backend;
  return {
    ...backend,
    store: {
      load: (what) => store.load(what),
      read: (plan) => store.read(plan),
      commit: (changes) => store.commit(changes),
      close: async () => {
        await store.close();
        // Not before the close: a process killed while it closes still holds the lock.
        opened.isClosed = true;
      },
    },
  };
}
