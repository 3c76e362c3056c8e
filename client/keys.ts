// Idempotency keys. The server recognizes a repeated call by its key and answers it as it did the
// first time. So a call with an unknown outcome can be repeated.

import { InvalidRequest } from "./errors.ts";
import { randomName } from "./names.ts";
import { keyedOperations, type Operation } from "./wire.ts";

/** How long the server surely remembers a call, from its first attempt: 5 minutes, less transit. */
export const receiptsMs = 5 * 60_000 - 15_000;

/**
 * Whether the server may have forgotten the key of a call that began at this wall-clock time. The
 * steady clock stops while a machine is suspended, and the server forgets keys meanwhile. A clock
 * that is set ahead only ends a call early.
 */
export function isKeyForgotten(begunAt: number): boolean {
  return Date.now() - begunAt > receiptsMs;
}

const keyCharactersMax = 255;

function takesKey(operation: Operation): boolean {
  return keyedOperations.includes(operation);
}

interface Keyed {
  readonly operation: Operation;
  /** The caller's own key. */
  readonly given: string | undefined;
  /** Whether calls without the caller's key get a random one. */
  readonly keys: boolean;
}

/** `null` = no key. Throws `InvalidRequest` for an invalid key. */
export function keyOf({ operation, given, keys }: Keyed): string | null {
  if (given === undefined) return keys && takesKey(operation) ? randomName(16) : null;
  const refuse = (message: string): never => {
    throw new InvalidRequest({ operation, status: null, message });
  };
  if (!takesKey(operation))
    refuse(`key is not supported; expected none for '${operation}', got '${given}'`);
  if (given.length > keyCharactersMax || !/^[\x21-\x7e]+$/.test(given)) {
    const got = given.length > keyCharactersMax ? `${given.length}` : JSON.stringify(given);
    refuse(
      `key is invalid; expected 1 to ${keyCharactersMax} visible ASCII characters, got ${got}`,
    );
  }
  return given;
}
