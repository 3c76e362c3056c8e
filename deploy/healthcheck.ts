// `holdfast healthcheck`: asks the server that has the same settings how it is, over TLS
// where it has a certificate. No key is needed. For images without a shell and curl.

import { readFileSync } from "node:fs";
import { readConfig } from "../server/config/config.ts";

const timeoutMs = 2_000;

/** 0 = it takes requests; 1 = it does not, or nobody answers; 2 = the settings are at fault. */
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
      // It asks its own machine by an address that no certificate has to name, and tells nothing.
      tls: { rejectUnauthorized: false },
    });
    console.log(await response.text());
    return response.ok ? 0 : 1;
  } catch (error) {
    console.error(`nobody answers; ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
}

/** Who listens on all addresses can be had on this one. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
