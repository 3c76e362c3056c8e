// Names for calls. By its key the server knows a call that comes again, and answers it as it did
// the first time; so a call of which the outcome is unknown can be asked for again.

import { InvalidRequest } from "./errors.ts";
import { randomName } from "./names.ts";
import type { Operation } from "./wire.ts";

const keyedOperations: readonly Operation[] = [
  "produce",
  "lease",
  "retry",
  "complete",
  "extend",
  "release",
  "transact",
  "importItems",
  "redrive",
  "repair",
];

/** For so long after a call was first sent it is not forgotten: 5 minutes, less some on the way. */
export const receiptsMs = 5 * 60_000 - 15_000;

const keyCharactersMax = 255;

function takesKey(operation: Operation): boolean {
  return keyedOperations.includes(operation);
}

interface Keyed {
  readonly operation: Operation;
  /** The caller's own. */
  readonly given: string | undefined;
  /** Whether there is one where the caller gives none. */
  readonly keys: boolean;
}

/** `null` = it has none. Throws `InvalidRequest` for what can be none. */
export function keyOf({ operation, given, keys }: Keyed): string | null {
  if (given === undefined) return keys && takesKey(operation) ? randomName(16) : null;
  const refuse = (message: string): never => {
    throw new InvalidRequest({ operation, status: null, message });
  };
  if (!takesKey(operation))
    refuse(`key is not taken; expected none for '${operation}', got '${given}'`);
  if (given.length > keyCharactersMax || !/^[\x21-\x7e]+$/.test(given)) {
    const got = given.length > keyCharactersMax ? `${given.length}` : JSON.stringify(given);
    refuse(
      `key is invalid; expected 1 to ${keyCharactersMax} visible ASCII characters, got ${got}`,
    );
  }
  return given;
}
