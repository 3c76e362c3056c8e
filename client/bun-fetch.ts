// Bun says the same of TLS that did not come about as of TLS that broke when the request was sent
// (EPROTO, ECONNRESET). So before its first call over TLS a client asks for something that changes
// nothing: until that is answered, nothing of a call was sent.

import { notConnected } from "./unsent.ts";

type BunFetch = (url: string, init: RequestInit) => Promise<Response>;

export function afterHandshake(fetch: BunFetch): BunFetch {
  const proven = new Set<string>();
  return async (url, init) => {
    if (url.startsWith("https:")) {
      const { origin } = new URL(url);
      if (!proven.has(origin)) await shakeHands(fetch, url, init.signal);
      proven.add(origin);
    }
    return fetch(url, init);
  };
}

/** Whatever is answered, and by whom: TLS came about. */
async function shakeHands(fetch: BunFetch, url: string, signal: RequestInit["signal"] = null) {
  try {
    await fetch(new URL("/livez", url).href, { method: "HEAD", redirect: "manual", signal });
  } catch (cause) {
    throw new Error(notConnected, { cause });
  }
}
