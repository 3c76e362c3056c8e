// The key of this tab, and whether the server requires one.

import { observable } from "../state/observable.ts";
import { tabKey } from "../state/preferences.ts";

export interface Session {
  readonly key: string | null;
  /** Grows with each sign-out: data of a former visit is not shown in the next. */
  readonly visit: number;
  /** The page asks for a key: there is none, or it was refused. */
  readonly asksKey: boolean;
  /** The reader has dismissed the question and reads without a key. */
  readonly isPutAway: boolean;
  readonly refusal: KeyRefusal | null;
}

export interface KeyRefusal {
  readonly code: number;
  readonly message: string;
}

export const session = observable<Session>({
  key: tabKey.read(),
  visit: 0,
  asksKey: false,
  isPutAway: false,
  refusal: null,
});

/** No call is made for a hidden page, or without a required key. */
export function isAwaited(): boolean {
  return document.visibilityState === "visible" && !session.get().asksKey;
}

export function enterKey(key: string): void {
  tabKey.write(key);
  session.set({ ...session.get(), key, asksKey: false, isPutAway: false, refusal: null });
}

export function putAway(): void {
  session.set({ ...session.get(), isPutAway: true });
}

/** After the question for a key was dismissed. */
export function comeBack(): void {
  session.set({ ...session.get(), isPutAway: false });
}

/**
 * `used`: the refused key; `null`: the call had none. The visit continues with the next key.
 */
export function askForKey(used: string | null, refusal: KeyRefusal): void {
  // The refusal of a former key.
  if (used !== session.get().key) return;
  tabKey.write(null);
  const asked = { key: null, asksKey: true, isPutAway: false };
  session.set({ ...session.get(), ...asked, refusal: used === null ? null : refusal });
}

export function signOut(): void {
  tabKey.write(null);
  const visit = session.get().visit + 1;
  session.set({ key: null, visit, asksKey: true, isPutAway: false, refusal: null });
}
