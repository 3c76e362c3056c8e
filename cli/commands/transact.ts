// `holdfast transact`: completes, retries and produces items in one commit.

import type { Command } from "commander";
import type { RequestFor } from "../../client/wire.ts";
import { contextOf } from "../context.ts";
import { UsageError } from "../exit-codes.ts";
import { pipedInput, wholeText } from "../input.ts";

const expected = "the JSON body of queue.transact on standard input";

export function addTransact(program: Command): void {
  program
    .command("transact")
    .description("complete and retry leased items and produce others, atomically")
    .option("--key <key>", "idempotency key of this call; a repetition has no second effect")
    .addHelpText(
      "after",
      `
Reads ${expected}:
  {"complete": [{"queue_name": "orders", "partition": 0, "ids": ["1n9rPb4rwKwuC00010000000000"]}],
   "produce": [{"queue_name": "invoices", "items": [{"utf8": "two anchors"}]}]}`,
    )
    .action(async ({ key }: { readonly key?: string }, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.transact(
        await readBody(),
        key === undefined ? {} : { key },
      );
      context.result(reply, () => {
        const rows = reply.produced.map(({ queue_name, partition, delivered }) => [
          ...[queue_name, partition ?? "", delivered ? "yes" : "soon"],
        ]);
        if (rows.length === 0) return "done";
        return context.table(["produced into", "partition", "delivered"], rows);
      });
    });
}

/** The server validates the body. */
async function readBody(): Promise<RequestFor<"transact">> {
  const input = pipedInput();
  const text = input === null ? "" : await wholeText(input, expected);
  if (text === "") throw new UsageError(`there is nothing to do; expected ${expected}`);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as RequestFor<"transact">;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new UsageError(`input is invalid; expected ${expected}, got '${text.slice(0, 60)}'`);
}
