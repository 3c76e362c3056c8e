// The key of this tab, and whether the server requires one.

import { observable } from "../state/observable.ts";
import { tabKey } from "../state/preferences.ts";

export interface Session {
  readonly key: string | null;
  /** Grows with each sign-out: data of a former visit is not shown in the next. */
  readonly visit: number;
  /** The server requires a key, and there is none or it was refused. */
  readonly needsKey: boolean;
  /** The reader has dismissed the login and reads without a key. */
  readonly isDismissed: boolean;
  readonly refusal: KeyRefusal | null;
}

export interface KeyRefusal {
  readonly code: number;
  readonly message: string;
}

export const session = observable<Session>({
  key: tabKey.read(),
  visit: 0,
  needsKey: false,
  isDismissed: false,
  refusal: null,
});

/** `false` for a hidden page, and without a required key. */
export function mayCall(): boolean {
  return document.visibilityState === "visible" && !session.get().needsKey;
}

export function enterKey(key: string): void {
  tabKey.write(key);
  session.set({ ...session.get(), key, needsKey: false, isDismissed: false, refusal: null });
}

export function dismissLogin(): void {
  session.set({ ...session.get(), isDismissed: true });
}

export function reopenLogin(): void {
  session.set({ ...session.get(), isDismissed: false });
}

/**
 * `used`: the refused key; `null`: the call had none. The visit continues with the next key.
 */
export function requestKey(used: string | null, refusal: KeyRefusal): void {
  // The refusal of a former key.
  if (used !== session.get().key) return;
  tabKey.write(null);
  const login = { key: null, needsKey: true, isDismissed: false };
  session.set({ ...session.get(), ...login, refusal: used === null ? null : refusal });
}

export function signOut(): void {
  tabKey.write(null);
  const visit = session.get().visit + 1;
  session.set({ key: null, visit, needsKey: true, isDismissed: false, refusal: null });
}
