// What every command that talks to a server shares: where it is, whom it is trusted by, who calls,
// how to answer.

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

/** The options that stand before or behind any command. */
export function contextOf(command: Command): Context {
  const { url, apiKey, ca, json } = command.optsWithGlobals<GlobalOptions>();
  const client = clientOf({
    url,
    // One that waits for its user to press keys should not wait for a server for long.
    attemptsMax: 4,
    // What is wrong is said when the command ends.
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

/** Nobody else is trusted then: whoever names an authority means this one. */
function fetchTrusting(path: string): NonNullable<ClientOptions["fetch"]> {
  const ca = readFileSync(path, "utf8");
  try {
    new X509Certificate(ca);
  } catch {
    throw new UsageError(`--ca is invalid; expected a certificate in PEM, got '${path}'`);
  }
  return hintingHttps(afterHandshake((url, init) => fetch(url, { ...init, tls: { ca } })));
}
