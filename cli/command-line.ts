// The command line of `holdfast`, `bun start` and the single executable. `serve` does not load the
// other commands, and they do not load the server.

/** Inserts `serve` if there is no command: no words, or only flags of `serve`. */
export function withDefaultCommand(
  words: readonly string[],
  isFlag: (word: string) => boolean,
): readonly string[] {
  const [first] = words;
  return first === undefined || isFlag(first) ? ["serve", ...words] : words;
}

/** Prints the help if there are no words. Sets the exit code without ending the process. */
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
