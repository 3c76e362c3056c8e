// An authenticated key, for tests of authorization.

import type { KnownKey } from "../auth/key-file.ts";
import { allRights, type Rights, scopesOf } from "../auth/key-rights.ts";

export function knownKey(name: string, ...rights: readonly Rights[]): KnownKey {
  const identity = { name, rights: rights.length === 0 ? [allRights] : rights };
  return {
    ...identity,
    digest: Buffer.alloc(32),
    scopes: scopesOf(identity),
    use: { lastUsedAt: null, deniedCount: 0 },
  };
}
