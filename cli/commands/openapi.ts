// `holdfast openapi`: prints the OpenAPI document.

import type { Command } from "commander";
import { documentText } from "../../openapi/document.ts";

export function addOpenapi(program: Command): void {
  program
    .command("openapi")
    .description("print the API as an OpenAPI 3.1 document")
    .option("--keys", "for a server with API keys, including the required header")
    .action(({ keys = false }: { keys?: boolean }) => {
      process.stdout.write(documentText({ hasKeys: keys }));
    });
}
