import { storageKeys, store } from "./storage.ts";

/** Closed, the announcement stays so until it has another id; the head script sees to it. */
export function startAnnouncement(): void {
  const bar = document.querySelector<HTMLElement>(".announcement");
  bar?.querySelector("button")?.addEventListener("click", () => {
    document.documentElement.dataset["announcement"] = "dismissed";
    store(storageKeys.announcement, bar.dataset["id"] ?? "");
  });
}
