// The key of this tab, and whether the server asks for one.

import { observed } from "../state/observable.ts";
import { keyOfTab } from "../state/preferences.ts";

export interface Session {
  readonly key: string | null;
  /** Counts who looks: what was had in a former visit is not shown in the next. */
  readonly visit: number;
  /** The page asks for a key: none was given, or `refusal` says what is wrong with it. */
  readonly asksKey: boolean;
  /** The reader goes on reading what is there without one. */
  readonly isPutAway: boolean;
  readonly refusal: KeyRefusal | null;
}

export interface KeyRefusal {
  readonly code: number;
  readonly message: string;
}

export const session = observed<Session>({
  key: keyOfTab.read(),
  visit: 0,
  asksKey: false,
  isPutAway: false,
  refusal: null,
});

/** Whether somebody looks who may be told: nothing is asked for a page that is hidden, or without its key. */
export function isAwaited(): boolean {
  return document.visibilityState === "visible" && !session.get().asksKey;
}

export function enterKey(key: string): void {
  keyOfTab.write(key);
  session.set({ ...session.get(), key, asksKey: false, isPutAway: false, refusal: null });
}

export function putAway(): void {
  session.set({ ...session.get(), isPutAway: true });
}

/** After the question for a key was put away. */
export function comeBack(): void {
  session.set({ ...session.get(), isPutAway: false });
}

/**
 * Of a key that was refused; one that was never given is only asked for. It may have been taken
 * for a while: then the next goes on with the same visit.
 */
export function askForKey(used: string | null, refusal: KeyRefusal): void {
  // An answer to the key before the present one says nothing about this.
  if (used !== session.get().key) return;
  keyOfTab.write(null);
  const asked = { key: null, asksKey: true, isPutAway: false };
  session.set({ ...session.get(), ...asked, refusal: used === null ? null : refusal });
}

export function signOut(): void {
  keyOfTab.write(null);
  const visit = session.get().visit + 1;
  session.set({ key: null, visit, asksKey: true, isPutAway: false, refusal: null });
}
