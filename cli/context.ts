// What every command that talks to a server shares: where it is, who calls, how to answer.

import type { Command } from "commander";
import { type Client, type ClientOptions, createClient } from "../client/client.ts";
import { UsageError } from "./exit-codes.ts";
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
  const client = clientOf({ url, attemptsMax: 4, ...(apiKey === undefined ? {} : { apiKey }) });
  return { client, ...openOutput(json === true) };
}

function clientOf(options: ClientOptions): Client {
  try {
    return createClient(options);
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`--${error.message}`);
    throw error;
  }
}
