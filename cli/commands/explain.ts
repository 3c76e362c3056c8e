// `holdfast explain`: what is the matter with a queue, in sentences.

import type { Command } from "commander";
import type { QueueExplainReply } from "../../client/wire.ts";
import { contextOf } from "../context.ts";
import { escaped } from "../output.ts";

/** Of a queue with which nothing is the matter. */
const fine: Readonly<Record<string, string>> = {
  flows: "items flow, and nothing is the matter",
  idle: "there are no items, and clients wait for some",
  empty: "there are no items, and nobody waits for any",
};

export function addExplain(program: Command): void {
  program
    .command("explain")
    .description("what is wrong with a queue, the worst first")
    .argument("<queue>", "name of the queue")
    .action(async (queue_name: string, _, command: Command) => {
      const context = contextOf(command);
      const explained = await context.client.explain({ queue_name });
      context.result(explained, () => told(explained));
    });
}

function told({ queue_name, health, findings }: QueueExplainReply): string {
  const about = fine[health];
  const first = about === undefined ? `${queue_name}: ${health}` : `${queue_name}: ${about}`;
  const lines = findings.map(
    ({ what, since, text }) => `${what}, since ${since}\n  ${escaped(text)}`,
  );
  return [first, ...lines].join("\n\n");
}
