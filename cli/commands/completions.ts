// `holdfast completions`: prints a script with which a shell completes commands, flags and queue
// names. The script calls this program for each completion.

import { RootCommand } from "@bomb.sh/tab";
import { Argument, type Command } from "commander";
import { contextOf } from "../context.ts";
import { allQueues } from "./queues.ts";

const shells = ["bash", "zsh", "fish"] as const;
/** After this time, it completes without queue names, so that the user does not have to wait. */
const namesTimeoutMs = 1_000;

export function addCompletions(program: Command): void {
  const completions = program
    .command("completions")
    .description("print the completion script of a shell; see --help")
    .usage("[options] <shell>")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .addHelpText(
      "after",
      `
The scripts call 'holdfast', which must be on the PATH; bash also needs the package
bash-completion.
  bash   echo 'source <(holdfast completions bash)' >> ~/.bashrc
  zsh    echo 'source <(holdfast completions zsh)' >> ~/.zshrc
  fish   holdfast completions fish > ~/.config/fish/completions/holdfast.fish`,
    )
    .action((shell: string) => {
      process.stdout.write(`${scriptOf(program.name(), shell)}\n`);
    });

  completions
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[], _, command: Command) => {
      const names = await namesOfQueues(command);
      const root = new RootCommand();
      describe(root, program, names);
      root.parse([...words]);
    });
}

/** Captures what the library prints. Its bash script has constants, which cannot be set twice. */
function scriptOf(name: string, shell: string): string {
  const { log } = console;
  let script = "";
  console.log = (text: string): void => {
    script = text;
  };
  try {
    new RootCommand().setup(name, `${name} completions`, shell);
  } finally {
    console.log = log;
  }
  if (shell !== "bash") return script;
  // Completions of other commands may define the same read-only names.
  return script
    .replaceAll(/^readonly /gm, "")
    .replaceAll("ShellCompDirective", `__${name}_directive`);
}

const noQueues = { infos: [] };

/** Empty if the server does not answer in time. */
async function namesOfQueues(command: Command): Promise<readonly string[]> {
  const { client } = contextOf(command);
  const { infos } = await allQueues(client, { timeoutMs: namesTimeoutMs }).catch(() => noQueues);
  return infos.map(({ queue_name }) => queue_name);
}

type Described = Pick<ReturnType<RootCommand["command"]>, "option" | "argument">;

function describe(root: RootCommand, program: Command, names: readonly string[]): void {
  describeOne(root, program, names);
  const visit = (command: Command, path: string): void => {
    describeOne(root.command(path, command.description()), command, names);
    for (const inner of visible(command)) visit(inner, `${path} ${inner.name()}`);
  };
  for (const command of visible(program)) visit(command, command.name());
}

function visible(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function describeOne(described: Described, command: Command, names: readonly string[]): void {
  for (const option of command.createHelp().visibleOptions(command)) {
    const name = option.long?.slice(2);
    if (name === undefined) continue;
    const takesValue = option.required || option.optional;
    if (takesValue) described.option(name, option.description, () => undefined);
    else described.option(name, option.description);
  }
  for (const argument of command.registeredArguments) {
    const choices = argument.name() === "queue" ? names : (argument.argChoices ?? []);
    described.argument(
      argument.name(),
      (complete) => {
        for (const choice of choices) complete(choice, "");
      },
      argument.variadic,
    );
  }
}
