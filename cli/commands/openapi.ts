// `holdfast openapi`: the contract as an OpenAPI document.

import type { Command } from "commander";
import { documentText } from "../../openapi/document.ts";

export function addOpenapi(program: Command): void {
  program
    .command("openapi")
    .description("print the API as an OpenAPI 3.1 document")
    .action(() => {
      process.stdout.write(documentText());
    });
}
