// The global options of commands that call a server: its URL, the trusted authority, the API key
// and the output format.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { afterHandshake } from "../client/bun-fetch.ts";
import { type Client, type ClientOptions, createClient } from "../client/client.ts";
import { hintingHttps } from "../client/https-hint.ts";
import { UsageError } from "./exit-codes.ts";
import { type Output, openOutput } from "./output.ts";

export interface GlobalOptions {
  readonly url: string;
  readonly apiKey?: string;
  readonly ca?: string;
  readonly json?: boolean;
}

export interface Context extends Output {
  readonly client: Client;
}

/** Reads the global options, which may precede or follow the command. */
export function contextOf(command: Command): Context {
  const { url, apiKey, ca, json } = command.optsWithGlobals<GlobalOptions>();
  const client = clientOf({
    url,
    // A user at a terminal should not wait long for an unreachable server.
    attemptsMax: 4,
    // The last error is printed when the command ends.
    notice: () => undefined,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(ca === undefined ? {} : { fetch: fetchTrusting(ca) }),
  });
  return { client, ...openOutput(json === true) };
}

function clientOf(options: ClientOptions): Client {
  try {
    return createClient(options);
  } catch (error) {
    if (error instanceof TypeError) {
      throw new UsageError(`--${error.message.replace(/^apiKey/, "api-key")}`);
    }
    throw error;
  }
}

/** Trusts this authority only, not those of the system. */
function fetchTrusting(path: string): NonNullable<ClientOptions["fetch"]> {
  const ca = readFileSync(path, "utf8");
  try {
    new X509Certificate(ca);
  } catch {
    throw new UsageError(`--ca is invalid; expected a certificate in PEM, got '${path}'`);
  }
  return hintingHttps(afterHandshake((url, init) => fetch(url, { ...init, tls: { ca } })));
}
