#!/usr/bin/env bun
// The entry point of the command `holdfast`.

import { runCommandLine } from "./command-line.ts";

await runCommandLine(process.argv.slice(2));
