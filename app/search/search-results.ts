// The list below the search input: results of the query, or the results visited last. Arrow keys
// select one, Enter opens it.

import { createSearch, excerptOf, partsOf, type SearchResult, type Section } from "./engine.ts";
import { type Recent, readRecents, remember } from "./recents.ts";
import "./search-results.css";

/** Fetches and indexes the sections, then shows results for the current and all later input. */
export async function showResults(): Promise<void> {
  const response = await fetch("/search.json");
  if (!response.ok) throw new Error(`search data is not available; got ${response.status}`);
  const search = await createSearch((await response.json()) as readonly Section[]);
  const dialog = document.querySelector<HTMLDialogElement>("dialog.search");
  const input = dialog?.querySelector("input");
  const list = dialog?.querySelector(".search-results");
  const state = dialog?.querySelector(".search-state");
  if (!(dialog && input && list && state)) return;

  const choose = (option: Element | null | undefined) => {
    for (const one of list.children) one.setAttribute("aria-selected", String(one === option));
    input.setAttribute("aria-activedescendant", option?.id ?? "");
  };
  const draw = () => {
    const asked = input.value.trim();
    const places = asked === "" ? readRecents() : search(asked);
    list.replaceChildren(...places.map(optionOf));
    list.scrollTop = 0;
    input.setAttribute("aria-expanded", String(places.length > 0));
    choose(list.firstElementChild);
    state.textContent = stateText(asked, places.length);
  };

  input.addEventListener("input", draw);
  // When reopened, the input is empty.
  input.addEventListener("focus", draw);
  input.addEventListener("keydown", (event) => {
    const chosen = list.querySelector<HTMLElement>("[aria-selected=true]");
    if (chosen === null || event.isComposing) return;
    if (event.key === "Enter") chosen.click();
    else if (event.key === "ArrowDown") choose(chosen.nextElementSibling ?? list.firstElementChild);
    else if (event.key === "ArrowUp")
      choose(chosen.previousElementSibling ?? list.lastElementChild);
    else return;
    event.preventDefault();
    list.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });
  list.addEventListener("pointermove", ({ target }) => {
    const option = optionAround(target);
    if (option !== null) choose(option);
  });
  // The link navigates; a link within this page would leave the dialog open.
  list.addEventListener("click", ({ target }) => {
    if (optionAround(target) !== null) dialog.close();
  });
  draw();
}

function optionAround(target: EventTarget | null): Element | null {
  return (target as Element).closest("[role=option]");
}

function optionOf(place: Recent | SearchResult, index: number): HTMLElement {
  const option = document.createElement("a");
  option.role = "option";
  option.id = `search-option-${index}`;
  option.href = place.url;
  // The focus stays in the input.
  option.tabIndex = -1;
  option.onclick = () => remember(place);
  const terms = "terms" in place ? place.terms : [];
  const page = document.createElement("span");
  page.className = "search-page";
  page.textContent = place.page;
  option.append(page, marked("strong", place.heading, terms));
  if ("text" in place) option.append(marked("span", excerptOf(place.text, terms), terms));
  return option;
}

/** Marks the matched words. */
function marked(tag: "strong" | "span", text: string, terms: readonly string[]): HTMLElement {
  const element = document.createElement(tag);
  for (const part of partsOf(text, terms)) {
    if (part.isFound)
      element.append(Object.assign(document.createElement("mark"), { textContent: part.text }));
    else element.append(part.text);
  }
  return element;
}

function stateText(asked: string, count: number): string {
  if (asked === "") return count === 0 ? "Type to search." : "Visited last";
  if (count === 0) return `Nothing was found for “${asked}”.`;
  return count === 1 ? "1 result" : `${count} results`;
}
