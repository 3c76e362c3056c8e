import { hydrateRoot } from "react-dom/client";
import { LeaseSimulator } from "../simulator/lease-simulator.tsx";
import { IslandFrame } from "./island-frame.tsx";

/** Brings to life what `lease-simulator.tsx` has placed. */
export function hydrateIsland(frame: HTMLElement): void {
  hydrateRoot(
    frame,
    <IslandFrame>
      <LeaseSimulator />
    </IslandFrame>,
    { identifierPrefix: frame.dataset["id"] ?? "" },
  );
  frame.dataset["alive"] = "";
}
