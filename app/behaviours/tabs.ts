// The selected tab of each group, the same in all tabs of a page and kept between visits.

import { read, store } from "./storage.ts";

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function startTabs(): void {
  showRemembered();
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) showRemembered();
  });
  document.addEventListener("click", (event) => {
    const tab = tabAt(event);
    if (tab !== null) select(tab);
  });
  document.addEventListener("keydown", (event) => {
    const tab = tabAt(event);
    if (tab !== null) move(tab, event);
  });
}

function keyOf(group: string): string {
  return `tabs.${group}`;
}

function tabAt({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(".tabs-list > button") : null;
}

function tabsIn(frame: Element): readonly HTMLElement[] {
  return [...frame.querySelectorAll<HTMLElement>(":scope > .tabs-list > button")];
}

function grouped(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(".tabs[data-group]")];
}

/** Tabs without this label keep their selection. */
function show(frame: Element, label: string): void {
  const tabs = tabsIn(frame);
  if (!tabs.some(({ textContent }) => textContent === label)) return;
  for (const tab of tabs) {
    const isSelected = tab.textContent === label;
    tab.setAttribute("aria-selected", String(isSelected));
    tab.tabIndex = isSelected ? 0 : -1;
    const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
    panel?.setAttribute("data-selected", String(isSelected));
  }
}

function select(tab: HTMLElement): void {
  const frame = tab.closest<HTMLElement>(".tabs");
  if (frame === null) return;
  const { group } = frame.dataset;
  show(frame, tab.textContent);
  if (group === undefined) return;
  store(keyOf(group), tab.textContent);
  for (const other of grouped()) if (other.dataset["group"] === group) show(other, tab.textContent);
}

/** Arrow keys wrap around, Home and End go to the ends; only one tab is in the tab order. */
function move(tab: HTMLElement, event: KeyboardEvent): void {
  const tabs = tabsIn(tab.closest(".tabs") ?? tab);
  const step = steps[event.key];
  let next = tabs.indexOf(tab) + (step ?? 0);
  if (event.key === "Home") next = 0;
  else if (event.key === "End") next = -1;
  else if (step === undefined) return;
  event.preventDefault();
  const chosen = tabs.at(next % tabs.length);
  if (chosen === undefined) return;
  select(chosen);
  chosen.focus();
}

function showRemembered(): void {
  for (const frame of grouped()) show(frame, read(keyOf(frame.dataset["group"] ?? "")) ?? "");
}
