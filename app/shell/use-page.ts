import { useMatches } from "react-router";
import type { PageHandle } from "../content-types.ts";

/** The `handle` of the current MDX page. */
export function usePage(): PageHandle {
  const handle = useMatches().at(-1)?.handle;
  if (handle === undefined) throw new Error("this layout is for MDX pages");
  return handle as PageHandle;
}
