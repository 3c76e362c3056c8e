import { hydrateRoot } from "react-dom/client";
import { LeaseSimulator } from "../simulator/lease-simulator.tsx";
import { IslandFrame } from "./island-frame.tsx";

/** Brings to life what `lease-simulator.tsx` has placed; resolves once it hears what is pressed. */
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
