// The tree of commands, their global options, and the format of usage errors.

import { Command, Option } from "commander";
import manifest from "../package.json" with { type: "json" };
import { addActions } from "./commands/actions.ts";
import { addBackup, addRestore } from "./commands/backup.ts";
import { addBench } from "./commands/bench.ts";
import { addClear } from "./commands/clear.ts";
import { addClients } from "./commands/clients.ts";
import { addClock } from "./commands/clock.ts";
import { addComplete } from "./commands/complete.ts";
import { addCompletions } from "./commands/completions.ts";
import { addConfirmLoss } from "./commands/confirm-loss.ts";
import { addExplain } from "./commands/explain.ts";
import { addExport } from "./commands/export.ts";
import { addExtend } from "./commands/extend.ts";
import { addGroups } from "./commands/groups.ts";
import { addImport } from "./commands/import.ts";
import { addInspect } from "./commands/inspect.ts";
import { addItems } from "./commands/items.ts";
import { addKey } from "./commands/key.ts";
import { addKeys } from "./commands/keys.ts";
import { addLease } from "./commands/lease.ts";
import { addNodes } from "./commands/nodes.ts";
import { addOpenapi } from "./commands/openapi.ts";
import { addOverview } from "./commands/overview.ts";
import { addProduce } from "./commands/produce.ts";
import { addQueues } from "./commands/queues.ts";
import { addRedrive } from "./commands/redrive.ts";
import { addRelease } from "./commands/release.ts";
import { addReload } from "./commands/reload.ts";
import { addRepair } from "./commands/repair.ts";
import { addReshard } from "./commands/reshard.ts";
import { addRetry } from "./commands/retry.ts";
import { addSeries } from "./commands/series.ts";
import { addServe } from "./commands/serve.ts";
import { addShards } from "./commands/shards.ts";
import { addStats } from "./commands/stats.ts";
import { addTasks } from "./commands/tasks.ts";
import { addTransact } from "./commands/transact.ts";
import { addWhoAmI } from "./commands/whoami.ts";
import { exitCodes, exitCodesText } from "./exit-codes.ts";

/** In the order in which `--help` lists them. */
const commands = [
  addServe,
  addProduce,
  addLease,
  addComplete,
  addRetry,
  addExtend,
  addRelease,
  addTransact,
  addQueues,
  addOverview,
  addExplain,
  addClients,
  addStats,
  addSeries,
  addInspect,
  addItems,
  addGroups,
  addRedrive,
  addRepair,
  addTasks,
  addClear,
  addReload,
  addClock,
  addShards,
  addNodes,
  addConfirmLoss,
  addExport,
  addImport,
  addBackup,
  addRestore,
  addReshard,
  addKey,
  addKeys,
  addWhoAmI,
  addActions,
  addOpenapi,
  addBench,
  addCompletions,
];

/** `isJson`: usage errors are left to the caller to print. */
export function createProgram({ isJson }: { readonly isJson: boolean }): Command {
  const program = new Command("holdfast")
    .description("Durable message queues over HTTP: the server and its command-line client.")
    .version(`holdfast ${manifest.version}`, "-V, --version", "print the version")
    .addOption(
      new Option("--url <url>", "URL of the server")
        .env("HOLDFAST_URL")
        .default("http://localhost:9090"),
    )
    .addOption(
      new Option("--api-key <key>", "sent as 'Authorization: Bearer …'").env("HOLDFAST_API_KEY"),
    )
    .addOption(
      new Option(
        "--ca <file>",
        "certificate in PEM of the only authority to trust, instead of the system's",
      ).env("HOLDFAST_CA"),
    )
    .option("--json", "print JSON for machines, one value per line")
    .addHelpText(
      "after",
      `\n${exitCodesText(exitCodes)}\n\nColours are used on terminals, unless NO_COLOR is set.`,
    );
  for (const add of commands) add(program);
  for (const command of allOf(program)) {
    command.exitOverride();
    if (isJson) command.configureOutput({ writeErr: () => undefined });
    // The longest terms are 43 columns wide; by default such narrow descriptions are not wrapped.
    command.configureHelp({ showGlobalOptions: true, minWidthToWrap: 30 });
    command.showHelpAfterError(`${usageOf(command)}\nMore: ${pathOf(command)} --help`);
  }
  return program;
}

/** `holdfast queues create`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

export function usageOf(command: Command): string {
  return `Usage: ${pathOf(command)} ${command.usage()}`;
}

function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}
