// The search dialog: what is typed is searched at once; arrows choose, Enter visits,
// Escape closes and gives the focus back.

import { type KeyboardEvent, type ReactNode, useDeferredValue, useEffect, useState } from "react";
import { createRoot, type Root } from "react-dom/client";
import { Icon } from "../shell/icon.tsx";
import { Modal } from "../shell/modal.tsx";
import { excerptOf, type Found, partsOf, type Search } from "./engine.ts";
import { loadSearch } from "./load.ts";
import { type Recent, readRecents, remember } from "./recents.ts";
import "./search.css";

const listId = "search-results";
const optionId = (index: number) => `search-option-${index}`;

let opened: Root | null = null;

export function openDialog(): void {
  if (opened !== null) return;
  opened = createRoot(document.body.appendChild(document.createElement("div")));
  opened.render(<SearchDialog />);
}

function closeSearch(): void {
  opened?.unmount();
  opened = null;
}

function SearchDialog(): ReactNode {
  const { search, failure } = useSearch();
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const [recents] = useState(readRecents);
  const asked = useDeferredValue(query.trim());

  const found = asked === "" || search === null ? [] : search(asked);
  const shown: readonly (Recent | Found)[] = asked === "" ? recents : found;
  const current = Math.min(chosen, Math.max(0, shown.length - 1));

  const visit = (place: Recent) => {
    remember(place);
    closeSearch();
    location.assign(place.url);
  };
  const pressed = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const place = shown[current];
    if (step !== undefined && shown.length > 0) {
      event.preventDefault();
      const next = (current + step + shown.length) % shown.length;
      setChosen(next);
      document.getElementById(optionId(next))?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && place !== undefined) {
      event.preventDefault();
      visit(place);
    }
  };

  return (
    <Modal className="search" label="Search" isOpen close={closeSearch}>
      <div className="search-panel">
        <div className="search-head">
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label="Search the site"
            aria-expanded={shown.length > 0}
            aria-controls={listId}
            aria-autocomplete="list"
            {...(shown.length > 0 ? { "aria-activedescendant": optionId(current) } : {})}
            placeholder="Search docs, posts, calls"
            autoComplete="off"
            spellCheck={false}
            value={query}
            onKeyDown={pressed}
            onChange={({ target }) => {
              setQuery(target.value);
              setChosen(0);
            }}
          />
          <button type="button" className="search-close" onClick={closeSearch}>
            Esc
          </button>
        </div>
        <p className="search-state" role="status">
          {stateText({ asked, count: shown.length, isReady: search !== null, failure })}
        </p>
        <div role="listbox" id={listId} className="search-results" aria-label="Results">
          {shown.map((place, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the focus and takes the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input
            <div
              key={place.url}
              id={optionId(index)}
              role="option"
              aria-selected={index === current}
              onPointerMove={() => setChosen(index)}
              onClick={() => visit(place)}
            >
              <span className="search-page">{place.page}</span>
              <strong>{marked(place.heading, place)}</strong>
              {"text" in place && <span>{marked(excerptOf(place.text, place.terms), place)}</span>}
            </div>
          ))}
        </div>
      </div>
    </Modal>
  );
}

/** With the words marked for which the place was found; one visited before was not searched for. */
function marked(text: string, place: Recent | Found): ReactNode {
  if (!("terms" in place)) return text;
  return partsOf(text, place.terms).map((part, index) =>
    part.isFound ? <mark key={index}>{part.text}</mark> : part.text,
  );
}

interface SearchState {
  readonly asked: string;
  readonly count: number;
  readonly isReady: boolean;
  readonly failure: string | null;
}

function stateText({ asked, count, isReady, failure }: SearchState): string {
  if (failure !== null) return failure;
  if (asked === "") return count === 0 ? "Type to search." : "Visited last";
  if (!isReady) return "Loading …";
  if (count === 0) return `Nothing was found for “${asked}”.`;
  return count === 1 ? "1 result" : `${count} results`;
}

function useSearch(): { readonly search: Search | null; readonly failure: string | null } {
  const [search, setSearch] = useState<Search | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    loadSearch().then(
      (loaded) => setSearch(() => loaded),
      (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
    );
  }, []);
  return { search, failure };
}
