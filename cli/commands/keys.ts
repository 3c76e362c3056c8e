// `holdfast keys`: the API keys that the server accepts, and their use.

import type { Command } from "commander";
import { contextOf } from "../context.ts";

const head = ["key", "digest", "roles", "queues", "last used", "denied"];

export function addKeys(program: Command): void {
  program
    .command("keys")
    .description("list the API keys that the server accepts; 'key' makes one")
    .action(async (_: unknown, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.listKeys({});
      context.result(reply, () => {
        if (reply.items.length === 0) return "the server requires no API keys";
        const rows = reply.items.flatMap(({ name, digest, rights, last_used_at, denied_calls }) =>
          rights.map(({ roles, queues }) => [
            ...[name, `${digest}…`, roles.join(), queues.join()],
            ...[last_used_at ?? "not since the start", denied_calls],
          ]),
        );
        return context.table(head, rows);
      });
    });
}
