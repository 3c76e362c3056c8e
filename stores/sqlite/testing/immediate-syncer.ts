// A syncer for virtual clocks, which cannot wait for a thread pool.

import type { Syncer } from "../sync.ts";

export const immediateSyncer: Syncer = {
  syncData: async () => undefined,
  syncFolder: async () => undefined,
};
