// The API's page. First it is text, rendered at build time and whole; on the reader's first
// input the live reference is loaded beside it, out of sight, and takes its place when all of
// it is there. What was pressed in between is pressed again, and what was in view stays.

import { html } from "virtual:api-reference";
import {
  type ComponentType,
  type CSSProperties,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import "virtual:api-reference.css";
import { followColorMode } from "./color-mode.ts";
import { onFirstInput } from "./first-input.ts";
import "./reference.css";
import type { Server } from "./servers.ts";
import { boxStylesOf, clearAway, type Moment, momentOf, restore } from "./takeover.ts";
import { fetchText } from "./text.ts";

type Phase = "text" | "loading" | "live";

interface Live {
  readonly Reference: ComponentType<{
    readonly servers: readonly Server[];
    readonly boxStyles: string;
    readonly onReady: () => void;
  }>;
  readonly servers: readonly Server[];
  readonly boxStyles: string;
}

export function ApiPage(): ReactNode {
  const text = useRef<HTMLDivElement>(null);
  const live = useRef<HTMLDivElement>(null);
  const moment = useRef<Moment | null>(null);
  const [loaded, setLoaded] = useState<Live | null>(null);
  const [phase, setPhase] = useState<Phase>("text");
  const [failure, setFailure] = useState<Error | null>(null);
  const start = useCallback(() => setPhase((now) => (now === "text" ? "loading" : now)), []);
  const pressed = usePressed(text);

  useEffect(() => (location.hash === "" ? onFirstInput(start) : start()), [start]);
  useEffect(followColorMode, []);
  useEffect(() => fetchText(text.current), []);
  useEffect(() => {
    if (phase !== "loading") return;
    loadLive().then((found) => {
      const boxStyles = text.current === null ? "" : boxStylesOf(text.current);
      setLoaded({ ...found, boxStyles });
    }, setFailure);
  }, [phase]);

  const takeOver = useCallback(() => {
    moment.current = text.current && momentOf(text.current, pressed.current);
    setPhase("live");
  }, [pressed]);
  // Before the browser paints, so that nothing is seen to move.
  useLayoutEffect(() => {
    if (phase !== "live" || live.current === null || moment.current === null) return;
    restore(live.current, moment.current);
    moment.current = null;
    if (text.current !== null) clearAway(text.current);
  }, [phase]);

  return (
    <div className="reference" data-phase={phase}>
      {failure !== null && (
        <div className="chunk-failure" role="alert">
          <p>{failure.message}</p>
          <button type="button" onClick={() => location.reload()}>
            Retry
          </button>
        </div>
      )}
      <div
        className="progress"
        role="progressbar"
        aria-label="Loading the live reference"
        style={shownWhen(phase === "loading" && failure === null)}
      />
      <div
        ref={text}
        className="reference-text"
        style={shownWhen(phase !== "live")}
        suppressHydrationWarning
        dangerouslySetInnerHTML={{ __html: html }}
      />
      {loaded !== null && phase !== "text" && (
        <div
          ref={live}
          className="reference-live"
          style={{ visibility: phase === "live" ? "visible" : "hidden" }}
        >
          <loaded.Reference
            servers={loaded.servers}
            boxStyles={loaded.boxStyles}
            onReady={takeOver}
          />
        </div>
      )}
    </div>
  );
}

/**
 * By the elements' own styles: a rule that stops to apply would have the browser match
 * Scalar's thousands of rules anew, for each element.
 */
function shownWhen(isShown: boolean): CSSProperties {
  return isShown ? {} : { display: "none" };
}

async function loadLive(): Promise<Omit<Live, "boxStyles">> {
  const { reachableServers } = await import("./servers.ts");
  const [{ LiveReference }, servers] = await Promise.all([
    import("./live-reference.tsx"),
    reachableServers(),
  ]);
  return { Reference: LiveReference, servers };
}

/** The last control of the text that was pressed; a link has done its work already. */
function usePressed(text: RefObject<HTMLElement | null>): RefObject<Element | null> {
  const pressed = useRef<Element | null>(null);
  useEffect(() => {
    const root = text.current;
    const note = ({ target }: Event) => {
      pressed.current = target instanceof Element ? target.closest("button") : null;
    };
    root?.addEventListener("click", note, true);
    return () => root?.removeEventListener("click", note, true);
  }, [text]);
  return pressed;
}
