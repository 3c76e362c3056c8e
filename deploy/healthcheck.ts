// `holdfast healthcheck`: checks the health of the server with the same settings, over TLS if it
// has a certificate. It needs no key. For images without a shell and curl.

import { readFileSync } from "node:fs";
import { readConfig } from "../server/config/config.ts";

const timeoutMs = 2_000;

/** 0 = the server accepts requests; 1 = it does not, or is unreachable; 2 = invalid settings. */
export async function checkHealth(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const readFile = (path: string) => readFileSync(path, "utf8");
  const read = readConfig({ argv, env, readFile });
  if (!read.ok) {
    console.error(read.faults.join("\n"));
    return 2;
  }
  const { host, port, tlsCert } = read.config;
  try {
    const scheme = tlsCert === "" ? "http" : "https";
    const response = await fetch(`${scheme}://${reachable(host)}:${port}/health`, {
      signal: AbortSignal.timeout(timeoutMs),
      // The loopback address need not be in the certificate, and the request contains no secret.
      tls: { rejectUnauthorized: false },
    });
    console.log(await response.text());
    return response.ok ? 0 : 1;
  } catch (error) {
    console.error(
      `server is unreachable; ${error instanceof Error ? error.message : String(error)}`,
    );
    return 1;
  }
}

/** A server that listens on all addresses is reachable on loopback. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
