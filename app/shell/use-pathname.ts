import { useLocation } from "react-router";

/** The path without a trailing slash, which the build and some links add. */
export function usePathname(): string {
  return useLocation().pathname.replace(/(.)\/+$/, "$1");
}
