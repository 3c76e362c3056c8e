// The colour mode: what the reader chose, and what it comes to. The head script sets
// both on <html> before the first paint; this changes them.

import { useSyncExternalStore } from "react";
import type { ThemeChoice } from "../config/types.ts";
import { siteConfig } from "../site-config.ts";
import { storageKeys } from "./head-script.ts";

const lightQuery = "(prefers-color-scheme: light)";

/** With the system respected there are three choices; else light and dark swap. */
export function nextChoice(choice: ThemeChoice, respectsSystem: boolean): ThemeChoice {
  if (!respectsSystem) return choice === "light" ? "dark" : "light";
  if (choice === "system") return "light";
  return choice === "light" ? "dark" : "system";
}

function isChoice(text: string | undefined): text is ThemeChoice {
  return text === "light" || text === "dark" || text === "system";
}

function currentChoice(): ThemeChoice {
  const { themeChoice } = document.documentElement.dataset;
  return isChoice(themeChoice) ? themeChoice : siteConfig.colorMode.defaultMode;
}

function show(choice: ThemeChoice): void {
  const { dataset } = document.documentElement;
  dataset["themeChoice"] = choice;
  const system = matchMedia(lightQuery).matches ? "light" : "dark";
  dataset["theme"] = choice === "system" ? system : choice;
}

export function choose(choice: ThemeChoice): void {
  show(choice);
  try {
    localStorage.setItem(storageKeys.theme, choice);
  } catch {
    // It holds for this page.
  }
}

function subscribe(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme-choice"] });
  const system = matchMedia(lightQuery);
  const follow = () => show(currentChoice());
  const otherTab = ({ key, newValue }: StorageEvent) => {
    if (key === storageKeys.theme && isChoice(newValue ?? undefined)) show(newValue as ThemeChoice);
  };
  system.addEventListener("change", follow);
  addEventListener("storage", otherTab);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", follow);
    removeEventListener("storage", otherTab);
  };
}

/** `null` until the page is mounted: before, nobody can know what was chosen. */
export function useThemeChoice(): ThemeChoice | null {
  return useSyncExternalStore(subscribe, currentChoice, () => null);
}
