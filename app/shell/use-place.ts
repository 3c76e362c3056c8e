import { useLocation } from "react-router";
import { useVersion } from "../docs/versions.ts";
import type { Place } from "./navbar-links.ts";
import { usePathname } from "./use-pathname.ts";

/** Where the reader is. */
export function usePlace(): Place {
  const { search, hash } = useLocation();
  const pathname = usePathname();
  return { pathname, search, hash, version: useVersion(pathname) };
}
