// A key that was let in, for tests of what comes after.

import type { KnownKey } from "../key-file.ts";
import { everything, isForAllQueues, queueTest, type Rights } from "../key-rights.ts";

export function knownKey(name: string, rights: Rights = everything): KnownKey {
  return {
    ...rights,
    name,
    digest: Buffer.alloc(32),
    isForAllQueues: isForAllQueues(rights),
    isFor: queueTest(rights.queues),
    use: { lastUsedAt: null, refusals: 0 },
  };
}
