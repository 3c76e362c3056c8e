// Bun reports the same errors (EPROTO, ECONNRESET) for a failed TLS handshake and for a connection
// that broke after the request was sent. So before its first call over TLS the client sends a
// harmless request. If that fails, nothing of the call was sent.

import { notConnected } from "./connection-errors.ts";

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

/** Any answer proves that the TLS handshake succeeded. */
async function shakeHands(fetch: BunFetch, url: string, signal: RequestInit["signal"] = null) {
  try {
    await fetch(new URL("/livez", url).href, { method: "HEAD", redirect: "manual", signal });
  } catch (cause) {
    throw new Error(notConnected, { cause });
  }
}
