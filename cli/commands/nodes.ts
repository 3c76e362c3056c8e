// `holdfast nodes`: who shares the database, and who has the shards.

import type { Command } from "commander";
import { contextOf } from "../context.ts";

const head = ["node", "version", "state", "joined", "seen"];

export function addNodes(program: Command): void {
  program
    .command("nodes")
    .description("nodes that share the database, and which of them owns the shards")
    .action(async (_: unknown, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.listNodes({});
      context.result(reply, () => {
        if (reply.items.length === 0) return "one server, and no nodes; --node-url makes it one";
        const rows = reply.items.map(({ url, version, started_at, seen_at, ...node }) => {
          const { owner, draining, live } = node;
          const what = live ? "forwards" : "is gone";
          const state = `${owner ? "has the shards" : what}${draining ? ", draining" : ""}`;
          return [url, version, state, started_at, seen_at];
        });
        return `${context.table(head, rows)}\ntakeovers so far: ${reply.epoch}`;
      });
    });
}
