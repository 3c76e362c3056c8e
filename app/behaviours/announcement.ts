import { storageKeys, store } from "./storage.ts";

/** A closed announcement stays closed until it has a new id; the head script applies this. */
export function startAnnouncement(): void {
  const bar = document.querySelector<HTMLElement>(".announcement");
  bar?.querySelector("button")?.addEventListener("click", () => {
    document.documentElement.dataset["announcement"] = "dismissed";
    store(storageKeys.announcement, bar.dataset["id"] ?? "");
  });
}
