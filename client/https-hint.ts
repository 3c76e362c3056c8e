// A TLS server closes a connection with plain HTTP without an answer. So if a connection breaks and
// its address has never answered, the client checks whether the port speaks TLS.

import { isUnsent, isUntrusted } from "./connection-errors.ts";

const lookMsMax = 2_000;
const speaksHttps = "the server speaks HTTPS";

/** The option that all runtimes' `fetch` accept. */
interface Init {
  readonly signal?: AbortSignal | null;
}

type Fetch<Given extends Init, Answer> = (url: string, init: Given) => Promise<Answer>;

export function hintingHttps<Given extends Init, Answer>(
  fetch: Fetch<Given, Answer>,
): Fetch<Given, Answer> {
  const answered = new Set<string>();
  return async (url, init) => {
    const isPlain = url.startsWith("http:");
    try {
      const answer = await fetch(url, init);
      if (isPlain) answered.add(new URL(url).origin);
      return answer;
    } catch (cause) {
      const isAborted = init.signal?.aborted === true;
      const isBroken = isPlain && !isAborted && !isUnsent(cause);
      const signal = AbortSignal.timeout(lookMsMax);
      const look = { method: "HEAD", headers: {}, body: undefined, redirect: "error", signal };
      const ask = (secure: string) => fetch(secure, { ...init, ...look });
      if (!isBroken) throw cause;
      const got = new URL(url).origin;
      if (answered.has(got) || !(await speaksTls(ask, url))) throw cause;
      throw new Error(`${speaksHttps}; expected a url with https://, got '${got}'`);
    }
  };
}

/** Whether it is the error thrown above: retrying the same URL is useless. */
export function isHttpsHint(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(speaksHttps);
}

async function speaksTls(ask: (url: string) => Promise<unknown>, plain: string): Promise<boolean> {
  try {
    await ask(new URL("/livez", plain.replace(/^http:/, "https:")).href);
    return true;
  } catch (error) {
    return isUntrusted(error);
  }
}
