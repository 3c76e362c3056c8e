import { hydrateRoot } from "react-dom/client";
import { IslandFrame } from "./island-frame.tsx";
import { loadIsland } from "./islands.ts";

/** Rejects when the code of the island cannot be had. */
export async function hydrateIsland(frame: HTMLElement): Promise<void> {
  const { island = "", id = "" } = frame.dataset;
  const Part = await loadIsland(island);
  hydrateRoot(
    frame,
    <IslandFrame>
      <Part />
    </IslandFrame>,
    { identifierPrefix: id },
  );
  frame.dataset["alive"] = "";
}
