import { useEffect, useState } from "react";
import { useNavigationType, useSearchParams } from "react-router";

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

/** Typed text is shown at once, and the address follows; after a link or Back, the text follows it. */
export function useTypedText(inAddress: string) {
  const [text, setText] = useState(inAddress);
  const navigation = useNavigationType();
  useEffect(() => {
    // Text typed meanwhile is newer than an address that this page has written itself.
    if (navigation !== "REPLACE") setText(inAddress);
  }, [inAddress, navigation]);
  return [text, setText] as const;
}
