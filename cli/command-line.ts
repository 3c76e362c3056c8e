// The one command line, whoever starts it: `holdfast`, `bun start`, or the single executable.
// A server loads nothing of the commands, and they nothing of it.

/** What is typed, with `serve` in front where no command is: nothing, or only flags of it. */
export function orServe(
  words: readonly string[],
  isFlag: (word: string) => boolean,
): readonly string[] {
  const [first] = words;
  return first === undefined || isFlag(first) ? ["serve", ...words] : words;
}

/** Without a word it prints the help. The exit code is set; the process ends once nothing is left to do. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  const [first, ...flags] = words;
  if (first === "serve") {
    const { serve } = await import("./serve.ts");
    process.exitCode = await serve(flags);
  } else {
    const { run } = await import("./run.ts");
    process.exitCode = await run(words.length === 0 ? ["--help"] : words);
  }
}
