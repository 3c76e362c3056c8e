// `holdfast confirm-loss`: confirms that an operator has dealt with lost commits.

import type { Command } from "commander";
import { contextOf } from "../context.ts";
import { expectOption, type GuardOptions } from "../guard.ts";

export function addConfirmLoss(program: Command): void {
  program
    .command("confirm-loss")
    .description("confirm that the commits lost by a database have been dealt with")
    .addOption(expectOption("refuse if more than this many commits would be confirmed"))
    .action(async ({ expect }: Pick<GuardOptions, "expect">, command: Command) => {
      const context = contextOf(command);
      const reply = await context.client.confirmLoss(expect === undefined ? {} : { expect });
      const { lost_commits: count } = reply;
      context.result(reply, () => {
        if (count === 0) return "nothing to confirm: the server has recorded no loss";
        return `confirmed: the database has lost ${count === 1 ? "a commit" : `${count} commits`}`;
      });
    });
}
