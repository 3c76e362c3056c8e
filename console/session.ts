// The key of this tab, and whether the server asks for one.

import { keyOfTab } from "./kept.ts";
import { observed } from "./observed.ts";

export interface Session {
  readonly key: string | null;
  /** The page asks for a key: none was given, or `refusal` says what is wrong with it. */
  readonly asksKey: boolean;
  readonly refusal: KeyRefusal | null;
}

export interface KeyRefusal {
  readonly code: number;
  readonly message: string;
}

export const session = observed<Session>({
  key: keyOfTab.read(),
  asksKey: false,
  refusal: null,
});

export function enterKey(key: string): void {
  keyOfTab.write(key);
  session.set({ key, asksKey: false, refusal: null });
}

/** Of a key that was refused; one that was never given is only asked for. */
export function askForKey(used: string | null, refusal: KeyRefusal): void {
  // An answer to the key before the present one says nothing about this.
  if (used !== session.get().key) return;
  keyOfTab.write(null);
  session.set({ key: null, asksKey: true, refusal: used === null ? null : refusal });
}

export function signOut(): void {
  keyOfTab.write(null);
  session.set({ key: null, asksKey: true, refusal: null });
}
