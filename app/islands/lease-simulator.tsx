// The simulator's place in a page. It is rendered with the page, so it is visible without code, and
// hydrated separately when the reader comes near (`start-islands.ts`).

import { type ReactNode, useId } from "react";
import { renderToString } from "react-dom/server";
import { LeaseSimulator as Simulator } from "../simulator/lease-simulator.tsx";

export function LeaseSimulator(): ReactNode {
  // Also the prefix of its ids: when hydrated separately, it would number them from the start
  // again.
  const id = useId();
  const __html = renderToString(<Simulator />, { identifierPrefix: id });
  return <div data-island="simulator" data-id={id} dangerouslySetInnerHTML={{ __html }} />;
}
