// When code of a page cannot be had, the page is loaded once more: what it names may be of a build
// that has been replaced. If that does not help, or the server does not answer, the page's notice
// says so. The head script does the same for the script that this is part of.

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

/** While the server is away, a reload would take the page away too. */
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
    // Where nothing is kept, it would reload for ever.
    return false;
  }
}

/** From here on a failure is another one. */
export function partArrived(): void {
  try {
    sessionStorage.removeItem(reloadedKey);
  } catch {
    // Nothing was noted either.
  }
}
