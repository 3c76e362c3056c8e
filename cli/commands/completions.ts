// `holdfast completions`: what a shell needs to complete commands, flags and names of
// queues. The shell's script asks this program back at each press of the key.

import { RootCommand } from "@bomb.sh/tab";
import { Argument, type Command } from "commander";
import { contextOf } from "../context.ts";
import { allQueues } from "./queues.ts";

const shells = ["bash", "zsh", "fish"] as const;
/** Longer would be felt at the keyboard; without names it completes the rest. */
const namesTimeoutMs = 1_000;

export function addCompletions(program: Command): void {
  const completions = program
    .command("completions")
    .description("print the completions of a shell; see --help")
    .usage("[options] <shell>")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .addHelpText(
      "after",
      `
Each asks 'holdfast' back, so that has to be on the path; bash needs its package
bash-completion as well.
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

/** The library prints it, and bash's has constants that cannot be set a second time. */
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
  // Other commands may have them too, for good.
  return script
    .replaceAll(/^readonly /gm, "")
    .replaceAll("ShellCompDirective", `__${name}_directive`);
}

const noQueues = { infos: [] };

/** None when the server cannot tell at once. */
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
