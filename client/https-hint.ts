// A server with TLS closes a connection on which plain HTTP comes, without an answer. So when a
// connection breaks before the first answer, the client looks whether the port speaks TLS.

import type { Fetch } from "./transport.ts";
import { isUnsent, isUntrusted } from "./unsent.ts";

const lookMsMax = 2_000;
const speaksHttps = "the server speaks HTTPS";

export function hintingHttps(fetch: Fetch): Fetch {
  let isAnswered = false;
  return async (url, init) => {
    try {
      const answer = await fetch(url, init);
      isAnswered = true;
      return answer;
    } catch (cause) {
      const isPlain = url.startsWith("http:");
      const isBroken = isPlain && !isAnswered && !init.signal.aborted && !isUnsent(cause);
      if (!isBroken || !(await speaksTls(fetch, url))) throw cause;
      const got = new URL(url).origin;
      throw new Error(`${speaksHttps}; expected a url with https://, got '${got}'`);
    }
  };
}

/** Whether it is that error: the same url never works, however often it is tried. */
export function isHttpsHint(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(speaksHttps);
}

async function speaksTls(fetch: Fetch, plain: string): Promise<boolean> {
  const url = new URL("/livez", plain.replace(/^http:/, "https:")).href;
  const signal = AbortSignal.timeout(lookMsMax);
  try {
    await fetch(url, { method: "HEAD", headers: {}, redirect: "error", signal });
    return true;
  } catch (error) {
    return isUntrusted(error);
  }
}
