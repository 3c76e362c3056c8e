// Scalar itself. Loaded when it is wanted and not before: it is most of the site's code.

import { ApiReferenceReact } from "@scalar/api-reference-react";
import "@scalar/api-reference-react/style.css";
import { fragments } from "virtual:api-reference";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import openapi from "../../openapi/openapi.json" with { type: "json" };
import { keepRepaired } from "./repairs.ts";
import { scalarOptions } from "./scalar-options.ts";
import type { Server } from "./servers.ts";

/** What is not all there after this is shown all the same. */
const drawMsMax = 15_000;

interface LiveReferenceProps {
  readonly servers: readonly Server[];
  /** Styles for what is not drawn yet (`takeover.ts`). */
  readonly boxStyles: string;
  /** Called once all that is in the window is there. */
  readonly onReady: () => void;
}

export function LiveReference({ servers, boxStyles, onReady }: LiveReferenceProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (host.current === null) return undefined;
    const stopRepairs = keepRepaired(host.current);
    const stopLooking = whenDrawn(host.current, onReady);
    return () => {
      stopRepairs();
      stopLooking();
    };
  }, [onReady]);
  const configuration = useMemo(
    () => ({
      ...scalarOptions,
      content: openapi,
      servers: servers.map((server) => ({ ...server })),
      redirect,
    }),
    [servers],
  );
  return (
    <div ref={host}>
      <style>{boxStyles}</style>
      <ApiReferenceReact configuration={configuration} />
    </div>
  );
}

/** The site's own addresses of operations, `/api#produce`, as Scalar's. */
function redirect(hash: string): string | null {
  const fragment = fragments[hash.replace(/^#/, "")];
  return fragment === undefined ? null : `#${fragment}`;
}

/** Scalar draws what is near the window; until then an empty box is in its place. */
function whenDrawn(host: HTMLElement, called: () => void): () => void {
  const startedAt = performance.now();
  let frame = 0;
  const look = () => {
    const isDone = isDrawn(host) || performance.now() - startedAt > drawMsMax;
    frame = requestAnimationFrame(isDone ? called : look);
  };
  frame = requestAnimationFrame(look);
  return () => cancelAnimationFrame(frame);
}

function isDrawn(host: HTMLElement): boolean {
  if (host.querySelector("h1") === null) return false;
  const boxes = [...host.querySelectorAll('[data-placeholder="true"]')];
  return boxes.every((box) => {
    const { top, bottom } = box.getBoundingClientRect();
    return bottom < 0 || top > innerHeight;
  });
}
