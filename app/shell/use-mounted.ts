import { useSyncExternalStore } from "react";

const never = () => () => undefined;

/** False in the page as it was rendered at build time, and until it has come to life. */
export function useMounted(): boolean {
  return useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
}
