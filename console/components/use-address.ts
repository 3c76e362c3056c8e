import { useSearchParams } from "react-router";

/** The query of the address, and how to change parts of it; `""` removes a part. */
export function useAddress() {
  const [query, setQuery] = useSearchParams();
  const change = (parts: Readonly<Record<string, string>>) => {
    // The query of this render may be older: memoized handlers outlive it.
    const next = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(parts)) {
      if (value === "") next.delete(name);
      else next.set(name, value);
    }
    setQuery(next, { replace: true, preventScrollReset: true });
  };
  return [query, change] as const;
}
