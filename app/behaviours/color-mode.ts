// The colour mode: the reader's choice and the resulting theme. The head script sets both on <html>
// before the first paint; this file changes them.

import type { ThemeChoice } from "../config/types.ts";
import { read, storageKeys, store } from "./storage.ts";

/**
 * If the system's setting is respected there are three choices; otherwise light and dark alternate.
 */
export function nextChoice(choice: ThemeChoice, respectsSystem: boolean): ThemeChoice {
  if (!respectsSystem) return choice === "light" ? "dark" : "light";
  if (choice === "system") return "light";
  return choice === "light" ? "dark" : "system";
}

function isChoice(text: string | null | undefined): text is ThemeChoice {
  return text === "light" || text === "dark" || text === "system";
}

export function colorModeLabel(choice: ThemeChoice, respectsSystem: boolean): string {
  return `Colour mode: ${choice}. Switch to ${nextChoice(choice, respectsSystem)}.`;
}

export function startColorMode(): void {
  const { dataset } = document.documentElement;
  const toggles = [...document.querySelectorAll<HTMLButtonElement>(".color-mode-toggle")];
  const respectsSystem = toggles.some((toggle) => "respectsSystem" in toggle.dataset);
  const system = matchMedia("(prefers-color-scheme: light)");
  const chosen = () => (isChoice(dataset["themeChoice"]) ? dataset["themeChoice"] : "dark");

  const show = (choice: ThemeChoice) => {
    dataset["themeChoice"] = choice;
    dataset["theme"] = choice === "system" ? (system.matches ? "light" : "dark") : choice;
    for (const toggle of toggles) {
      toggle.disabled = false;
      toggle.title = colorModeLabel(choice, respectsSystem);
      toggle.ariaLabel = toggle.title;
    }
  };
  const follow = (stored: string | null) => {
    if (isChoice(stored)) show(stored);
  };

  show(chosen());
  for (const toggle of toggles) {
    toggle.addEventListener("click", () => {
      show(nextChoice(chosen(), respectsSystem));
      store(storageKeys.theme, chosen());
    });
  }
  system.addEventListener("change", () => show(chosen()));
  window.addEventListener("storage", ({ key, newValue }) => {
    if (key === storageKeys.theme) follow(newValue);
  });
  // A page from the back/forward cache missed later choices.
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) follow(read(storageKeys.theme));
  });
}
