// `holdfast whoami`: the permissions of the API key.

import type { Command } from "commander";
import { contextOf } from "../context.ts";

export function addWhoAmI(program: Command): void {
  program
    .command("whoami")
    .description("show the permissions of your API key")
    .action(async (_: unknown, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.whoAmI({});
      context.result(reply, () => {
        if (!reply.keys_required) return "anonymous: the server requires no API keys";
        const rows = reply.rights.map(({ roles, queues }) => [
          ...[reply.name, roles.join(), queues.join()],
        ]);
        return context.table(["key", "roles", "queues"], rows);
      });
    });
}
