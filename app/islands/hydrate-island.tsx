import { hydrateRoot } from "react-dom/client";
import { LeaseSimulator } from "../simulator/lease-simulator.tsx";
import { IslandFrame } from "./island-frame.tsx";

/** Hydrates the simulator placed by `lease-simulator.tsx`; resolves once it handles presses. */
export function hydrateIsland(frame: HTMLElement): Promise<void> {
  return new Promise((resolve) => {
    const onAlive = () => {
      frame.dataset["alive"] = "";
      resolve();
    };
    hydrateRoot(
      frame,
      <IslandFrame onAlive={onAlive}>
        <LeaseSimulator />
      </IslandFrame>,
      { identifierPrefix: frame.dataset["id"] ?? "" },
    );
  });
}
