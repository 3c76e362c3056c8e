// `holdfast openapi`: the contract as an OpenAPI document.

import type { Command } from "commander";
import { documentText } from "../../openapi/document.ts";

export function addOpenapi(program: Command): void {
  program
    .command("openapi")
    .description("print the API as an OpenAPI 3.1 document")
    .option("--keys", "of a server that has API keys, with the header that they need")
    .action(({ keys = false }: { keys?: boolean }) => {
      process.stdout.write(documentText({ hasKeys: keys }));
    });
}
