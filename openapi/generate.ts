// Writes openapi.json, which the site and outsiders read. Run it after any change of
// the contract: `bun openapi/generate.ts`.

import { documentText } from "./document.ts";

await Bun.write(new URL("openapi.json", import.meta.url), documentText());
