// Reloads the page when its code fails to load: the files may belong to a build that has been
// replaced. If that does not help, or the server does not answer, the page shows a notice. The head
// script does the same for the script that contains this file.

import { failureId, reloadedKey } from "./storage.ts";

export async function partFailed(part: string): Promise<void> {
  if ((await isAnswered()) && isFirst()) {
    location.reload();
    return;
  }
  const notice = document.getElementById(failureId);
  const text = notice?.querySelector("p");
  if (notice === null || text == null) return;
  text.textContent = `A part of this page could not be loaded: ${part}.`;
  notice.hidden = false;
}

/** While the server is unreachable, a reload would lose the page. */
async function isAnswered(): Promise<boolean> {
  return await fetch(location.href, { method: "HEAD", cache: "no-store" }).then(
    ({ status }) => status < 500,
    () => false,
  );
}

function isFirst(): boolean {
  try {
    const isReloaded = sessionStorage.getItem(reloadedKey) !== null;
    sessionStorage.setItem(reloadedKey, "");
    return !isReloaded;
  } catch {
    // Without storage it would reload forever.
    return false;
  }
}

/** The code has arrived; a later failure is a new one. */
export function partArrived(): void {
  try {
    sessionStorage.removeItem(reloadedKey);
  } catch {
    // Without storage there is no note to remove.
  }
}
