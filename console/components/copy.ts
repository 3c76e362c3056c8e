import { type Call, curlOf, paths } from "../api/call.ts";
import { showToast } from "../state/toast.ts";

/** Without TLS a page has no clipboard. */
export function copyText(text: string, what: string): void {
  const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
  copied.then(
    () => showToast(`copied ${what}`),
    () => showToast("not copied: the browser gives this page no clipboard", 0),
  );
}

export function copyCall(call: Call): void {
  copyText(curlOf(call), `POST ${paths[call.id]}`);
}
