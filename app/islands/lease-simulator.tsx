// Where the simulator stands in a page. It is rendered with the page, so that it is there
// without any code, and once more by itself when the reader comes near (`start-islands.ts`).

import { type ComponentType, type ReactNode, use, useId } from "react";
import { renderToString } from "react-dom/server";
import { loadIsland } from "./islands.ts";
import "../simulator/simulator.css";

let loading: Promise<ComponentType> | null = null;

export function LeaseSimulator(): ReactNode {
  // Also the beginning of its ids: rendered by itself it would count them from the first again.
  const id = useId();
  loading ??= loadIsland("simulator");
  const Part = use(loading);
  const __html = renderToString(<Part />, { identifierPrefix: id });
  return <div data-island="simulator" data-id={id} dangerouslySetInnerHTML={{ __html }} />;
}
