// What an API key is for: roles, and the queues by patterns of their names. Written in its line as
// `role=produce,consume queues=orders*,billing`; a line without is for everything.

import { type Role, roleNames } from "../openapi/roles.ts";

export interface Rights {
  readonly roles: readonly Role[];
  /** Names in which `*` stands for any text. */
  readonly queues: readonly string[];
}

/** Whose call it is; crosses to whoever has the engine. */
export interface Grant extends Rights {
  /** May be empty. */
  readonly name: string;
}

export const allQueues = "*";
export const everything: Rights = { roles: ["admin"], queues: [allQueues] };

export type ReadRights =
  | { readonly ok: true; readonly rights: Rights }
  /** Never quotes what it read: it may be a key, put there by mistake. */
  | { readonly ok: false; readonly fault: string };

/** Of words such as `role=consume`; none of them = everything. */
export function readRights(words: readonly string[]): ReadRights {
  const given = new Map<string, readonly string[]>();
  for (const word of words) {
    const at = word.indexOf("=");
    const setting = word.slice(0, at);
    if (setting !== "role" && setting !== "queues") return faulty("expected role= and queues=");
    if (given.has(setting)) return faulty(`expected ${setting}= once`);
    given.set(setting, word.slice(at + 1).split(","));
  }
  if (given.size === 0) return { ok: true, rights: everything };
  const roles = given.get("role") ?? [];
  const queues = given.get("queues") ?? [allQueues];
  if (roles.length === 0) return faulty("expected role= with queues=");
  if (!roles.every(isRole)) return faulty(`expected roles out of ${roleNames.join(", ")}`);
  if (queues.includes("")) return faulty("expected names of queues, with commas between them");
  return { ok: true, rights: { roles, queues } };
}

function faulty(fault: string): ReadRights {
  return { ok: false, fault };
}

export function isRole(word: string): word is Role {
  return roleNames.some((name) => name === word);
}

/** As `readRights` reads them. */
export function rightsText({ roles, queues }: Rights): string {
  return `role=${roles.join()} queues=${queues.join()}`;
}

export function isForAllQueues({ queues }: Rights): boolean {
  return queues.includes(allQueues);
}

/**
 * Tells whether a name is one of the patterns'. No regular expression: patterns with several `*` would
 * take one very long over a name made for it.
 */
export function queueTest(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes(allQueues)) return () => true;
  const names = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const wild = patterns.filter((pattern) => pattern.includes("*")).map((each) => each.split("*"));
  return (name) => names.has(name) || wild.some((pieces) => isMadeOf(name, pieces));
}

/** Whether who asks may see a queue; `null` = nobody is asked for a key. */
export function visibleTo(grant: Grant | null): (queue: string) => boolean {
  return queueTest(grant === null ? everything.queues : grant.queues);
}

/** Whether the pieces stand in the text in their order, the first at its start, the last at its end. */
function isMadeOf(text: string, pieces: readonly string[]): boolean {
  const [first = "", ...rest] = pieces;
  const last = rest.pop() ?? "";
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
