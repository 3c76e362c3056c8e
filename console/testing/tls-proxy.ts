// A proxy as in production: it terminates TLS, and forwards requests below its prefix.

import { sampleCertificate, sampleKey } from "../../server/testing/tls-sample.ts";

export interface TlsProxy extends AsyncDisposable {
  readonly url: string;
}

export function openTlsProxy(serverUrl: string): TlsProxy {
  const proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert: sampleCertificate, key: sampleKey },
    async fetch(request) {
      const { pathname, search, host } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("host", host);
      const {
        status,
        headers: answered,
        body,
      } = await fetch(serverUrl + pathname + search, {
        method: request.method,
        headers,
        body: request.method === "POST" ? await request.text() : null,
        redirect: "manual",
        decompress: false,
      });
      return new Response(body, { status, headers: answered });
    },
  });
  return {
    url: `https://127.0.0.1:${proxy.port}`,
    [Symbol.asyncDispose]: () => proxy.stop(true),
  };
}
