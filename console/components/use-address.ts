import { useSearchParams } from "react-router";

/** The query of the address, and how to change parts of it; `""` removes a part. */
export function useAddress() {
  const [query, setQuery] = useSearchParams();
  const change = (parts: Readonly<Record<string, string>>) =>
    setQuery(
      (before) => {
        for (const [name, value] of Object.entries(parts)) {
          if (value === "") before.delete(name);
          else before.set(name, value);
        }
        return before;
      },
      { replace: true, preventScrollReset: true },
    );
  return [query, change] as const;
}
