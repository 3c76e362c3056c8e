// `bun run key [NAME]`, and `key` of the single executable: makes an API key and prints
// it once, with the line that lets it in. Nothing is written anywhere.

import { newApiKey } from "../server/api-keys.ts";

/** The words after the command are the name of who gets it. */
export function printNewKey(words: readonly string[]): void {
  const { key, line } = newApiKey(words.join(" ").trim());
  process.stdout.write(`The key, for the client; it is shown this once:

${key}

The line for the file that --api-keys-file names:

${line}
`);
}

if (import.meta.main) printNewKey(process.argv.slice(2));
