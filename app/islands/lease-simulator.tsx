// Where the simulator stands in a page. It is rendered with the page, so that it is there
// without any code, and once more by itself when the reader comes near (`start-islands.ts`).

import { type ReactNode, useId } from "react";
import { renderToString } from "react-dom/server";
import { LeaseSimulator as Simulator } from "../simulator/lease-simulator.tsx";

export function LeaseSimulator(): ReactNode {
  // Also the beginning of its ids: rendered by itself it would count them from the first again.
  const id = useId();
  const __html = renderToString(<Simulator />, { identifierPrefix: id });
  return <div data-island="simulator" data-id={id} dangerouslySetInnerHTML={{ __html }} />;
}
