import { useMatches } from "react-router";
import type { PageHandle } from "../content-types.ts";

/** What the MDX page that is shown exports about itself. */
export function usePage(): PageHandle {
  const handle = useMatches().at(-1)?.handle;
  if (handle === undefined) throw new Error("this layout is for MDX pages");
  return handle as PageHandle;
}
