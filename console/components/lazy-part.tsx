// A component whose code is loaded after the page: a view, a chart, a tree. If that fails, a note
// replaces it, and loading is retried with each answer of the server.

import { type ComponentType, type ReactNode, useEffect, useRef, useState } from "react";
import { observable, useObservable, useObservablePart } from "../state/observable.ts";
import { pollState } from "../state/overview-poll.ts";
import { Button } from "./button.tsx";
import { PageTitle } from "./frame/page-head.tsx";

export interface Part<Props> {
  readonly Component: ComponentType<Props>;
  /** Never rejects; `false` = the code could not be loaded. */
  readonly load: () => Promise<boolean>;
  readonly useIsMissing: () => boolean;
}

interface PartOptions {
  /** Begins the sentence of the note. */
  readonly name: string;
  /** It is all of a page. */
  readonly isPage?: boolean;
}

const parts: Part<never>[] = [];

export function lazyPart<Props extends object>(
  options: PartOptions,
  codeOf: () => Promise<ComponentType<Props>>,
): Part<Props> {
  const state = observable<ComponentType<Props> | "loading" | "missing">("loading");
  let loading: Promise<boolean> | null = null;
  const load = () => {
    loading ??= codeOf()
      .then((code) => {
        state.set(code);
        return true;
      })
      .catch(() => {
        loading = null;
        state.set("missing");
        return false;
      });
    return loading;
  };
  const Component = (props: Props): ReactNode => {
    const Code = useObservable(state);
    useEffect(() => void load(), []);
    if (Code === "loading") return null;
    return Code === "missing" ? <Missing {...options} load={load} /> : <Code {...props} />;
  };
  const useIsMissing = () => useObservable(state) === "missing";
  const part = { Component, load, useIsMissing };
  parts.push(part);
  return part;
}

interface MissingProps extends PartOptions {
  readonly load: () => Promise<boolean>;
}

function Missing({ name, isPage = false, load }: MissingProps): ReactNode {
  const answer = useObservablePart(pollState, ({ overview, outage }) =>
    outage === null ? overview : null,
  );
  const before = useRef(answer);
  /** The server answers, but the code of this version is gone. */
  const [isGone, setGone] = useState(false);
  useEffect(() => {
    if (answer === null) setGone(false);
    if (answer === null || answer === before.current) return;
    void load().then((isLoaded) => setGone(!isLoaded));
  }, [answer, load]);
  const Head = isPage ? "h1" : "b";
  return (
    <div className="fault" role="alert">
      {isPage && <PageTitle of={name} />}
      <Head>{name} could not be loaded.</Head>
      <span className="muted">
        {isGone
          ? "The server answers, but it may have been updated."
          : "The console tries again as soon as the server answers."}
      </span>
      {isGone && (
        <Button look="small" onClick={() => location.reload()}>
          Load the page again
        </Button>
      )}
    </div>
  );
}

/** Loads all parts while the page is idle, so that views work during an outage. Returns the stop. */
export function loadAhead(): () => void {
  let isBegun = false;
  const stop = pollState.subscribe(() => {
    const { overview, outage } = pollState.get();
    if (isBegun || overview === null || outage !== null) return;
    isBegun = true;
    whenIdle(async () => {
      // One after the other: the reader's own requests come first.
      const loaded: boolean[] = [];
      for (const part of parts) loaded.push(await part.load());
      if (loaded.every(Boolean)) stop();
      else isBegun = false;
    });
  });
  return stop;
}

function whenIdle(run: () => Promise<void>): void {
  // Safari has no idle callbacks.
  if ("requestIdleCallback" in globalThis) requestIdleCallback(() => void run());
  else setTimeout(run, 1_000);
}
