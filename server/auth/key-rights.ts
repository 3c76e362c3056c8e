// The rights of an API key: roles, and patterns of queue names. A line of the key file has them as
// `role=produce,consume queues=orders*,billing`. A line without them grants all rights, and the
// rights of several lines of one key add up.

import type { Needs } from "../../openapi/operations.ts";
import { type Role, roleNames } from "../../openapi/roles.ts";

export interface Rights {
  readonly roles: readonly Role[];
  /** Patterns of names; `*` matches any text. */
  readonly queues: readonly string[];
}

/** Name and rights of a call's API key, which are sent to the thread or node with the engine. */
export interface KeyIdentity {
  /** May be empty. */
  readonly name: string;
  readonly rights: readonly Rights[];
}

export type Needed = Needs["role"];

export const allQueues = "*";
export const allRights: Rights = { roles: ["admin"], queues: [allQueues] };

export type ReadRights =
  | { readonly ok: true; readonly rights: Rights }
  /** Never quotes the words: they may be a key that was put there by mistake. */
  | { readonly ok: false; readonly fault: string };

/** `words`: settings such as `role=consume`; none = all rights. */
export function readRights(words: readonly string[]): ReadRights {
  const given = new Map<string, readonly string[]>();
  for (const word of words) {
    const at = word.indexOf("=");
    const setting = word.slice(0, at);
    if (setting !== "role" && setting !== "queues") return faulty("expected role= and queues=");
    if (given.has(setting)) return faulty(`expected ${setting}= once`);
    given.set(setting, word.slice(at + 1).split(","));
  }
  if (given.size === 0) return { ok: true, rights: allRights };
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

/** The settings, as `readRights` reads them. */
export function rightsText({ roles, queues }: Rights): string {
  return `role=${roles.join()} queues=${queues.join()}`;
}

/** Patterns of the queues for which a key has a role. */
export function queuePatterns(
  { rights }: Pick<KeyIdentity, "rights">,
  role: Needed,
): readonly string[] {
  const has = ({ roles }: Rights) => roles.includes("admin") || roles.some((own) => own === role);
  return rights.filter((each) => role === "any" || has(each)).flatMap(({ queues }) => queues);
}

/** The queues for which a key has a role. */
export interface Scope {
  readonly isNone: boolean;
  readonly isAll: boolean;
  readonly has: (queue: string) => boolean;
}

export type Scopes = Readonly<Record<Needed, Scope>>;

export function scopesOf(identity: Pick<KeyIdentity, "rights">): Scopes {
  const scopeOf = (role: Needed): Scope => {
    const patterns = queuePatterns(identity, role);
    const isAll = patterns.includes(allQueues);
    return { isNone: patterns.length === 0, isAll, has: queueTest(patterns) };
  };
  return {
    produce: scopeOf("produce"),
    consume: scopeOf("consume"),
    read: scopeOf("read"),
    admin: scopeOf("admin"),
    any: scopeOf("any"),
  };
}

/** The fields of a reply: all rights together, and each separately. */
export function rightsReply({ rights }: Pick<KeyIdentity, "rights">) {
  return {
    roles: [...new Set(rights.flatMap(({ roles }) => roles))],
    queues: [...new Set(rights.flatMap(({ queues }) => queues))],
    rights: rights.map(({ roles, queues }) => ({ roles: [...roles], queues: [...queues] })),
  };
}

/**
 * Returns a test of whether a name matches a pattern. Not a regular expression: with several `*`, a
 * crafted name would take very long.
 */
export function queueTest(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.includes(allQueues)) return () => true;
  const names = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const wild = patterns.filter((pattern) => pattern.includes("*")).map((each) => each.split("*"));
  return (name) => names.has(name) || wild.some((pieces) => matchesPieces(name, pieces));
}

/** Returns a test of whether the key has a role for a queue; `null` = no keys are required. */
export function queueTestFor(
  identity: KeyIdentity | null,
  role: Needed,
): (queue: string) => boolean {
  return queueTest(identity === null ? allRights.queues : queuePatterns(identity, role));
}

/** Returns a test of whether the key may see a queue; `null` = no keys are required. */
export function visibleTo(identity: KeyIdentity | null): (queue: string) => boolean {
  return queueTestFor(identity, "read");
}

/** Whether the key has the role for all queues. */
export function isForAllQueues(identity: KeyIdentity, role: Needed): boolean {
  return queuePatterns(identity, role).includes(allQueues);
}

/** Whether the text has the pieces in order, the first at its start and the last at its end. */
function matchesPieces(text: string, pieces: readonly string[]): boolean {
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
