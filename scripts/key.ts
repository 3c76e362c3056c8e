// `bun run key [NAME]`: makes an API key and prints it once, with the line that
// lets it in. Nothing is written anywhere.

import { newApiKey } from "../server/api-keys.ts";

const { key, line } = newApiKey(process.argv.slice(2).join(" ").trim());
process.stdout.write(`The key, for the client; it is shown this once:

${key}

The line for the file that --api-keys-file names:

${line}
`);
