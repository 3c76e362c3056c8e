#!/usr/bin/env bun
// `holdfast`, as it is typed.

import { runCommandLine } from "./command-line.ts";

await runCommandLine(process.argv.slice(2));
