import { useLocation } from "react-router";

/** The path, without the slash that the build, and a careless link, put at its end. */
export function usePathname(): string {
  return useLocation().pathname.replace(/(.)\/+$/, "$1");
}
