import { hydrateRoot } from "react-dom/client";
import { IslandFrame } from "./island-frame.tsx";
import { type IslandName, loadIsland } from "./islands.ts";

/** Rejects when the code of the island cannot be had. */
export async function hydrateIsland(frame: HTMLElement): Promise<void> {
  const { island, props = "{}", id = "" } = frame.dataset;
  const Part = await loadIsland(island as IslandName);
  hydrateRoot(
    frame,
    <IslandFrame>
      <Part {...(JSON.parse(props) as object)} />
    </IslandFrame>,
    { identifierPrefix: id },
  );
  frame.dataset["alive"] = "";
}
