#!/usr/bin/env node
// `holdfast` of the package. npm runs a command with Node; the program itself needs Bun.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

// Beside this file once it is packed.
const main = new URL("./main.js", import.meta.url);
if (process.versions.bun !== undefined) {
  await import(main.href);
} else {
  const words = [fileURLToPath(main), ...process.argv.slice(2)];
  const child = spawn("bun", words, { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // A terminal sends it to both processes.
  process.on("SIGINT", () => {});
  child.on("error", () => {
    console.error("holdfast needs Bun, whose SQLite it stores in: npm install --global bun");
    process.exit(1);
  });
  child.on("exit", (code) => process.exit(code ?? 1));
}
