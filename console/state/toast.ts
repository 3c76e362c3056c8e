// What came of the last change, in the bar at the bottom.

import { observed } from "./observable.ts";

export interface Said {
  readonly code: number;
  readonly text: string;
}

export const said = observed<Said | null>(null);

export function say(text: string, code = 200): void {
  said.set({ code, text });
}
