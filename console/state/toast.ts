// The result of the last change, shown in the footer.

import { observable } from "./observable.ts";

interface Toast {
  readonly code: number;
  readonly text: string;
}

export const toast = observable<Toast | null>(null);

export function showToast(text: string, code = 200): void {
  toast.set({ code, text });
}
