// What every command that talks to a server shares: where it is, who calls, how to answer.

import type { Command } from "commander";
import { type Client, createClient } from "../openapi/client/client.ts";
import { type Output, openOutput } from "./output.ts";

export interface GlobalOptions {
  readonly url: string;
  readonly apiKey?: string;
  readonly json?: boolean;
}

export interface Context extends Output {
  readonly client: Client;
}

/** The options that stand before or behind any command. */
export function contextOf(command: Command): Context {
  const { url, apiKey, json } = command.optsWithGlobals<GlobalOptions>();
  // One that waits for its user to press keys should not wait for a server for long.
  const client = createClient({ url, attemptsMax: 4, ...(apiKey === undefined ? {} : { apiKey }) });
  return { client, ...openOutput(json === true) };
}
