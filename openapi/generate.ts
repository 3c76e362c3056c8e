// Writes openapi.json and holdfast.proto: `bun run openapi`, after any change of the contract.

import { documentText } from "./document.ts";
import { protoFileText } from "./proto-file.ts";

await Bun.write(new URL("openapi.json", import.meta.url), documentText());
await Bun.write(new URL("holdfast.proto", import.meta.url), protoFileText());
