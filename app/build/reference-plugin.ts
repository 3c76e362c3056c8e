// `virtual:reference`: the rows of the generated tables. Pages import data, not the
// server's modules, which would bring their schemas along.

import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { referenceRows } from "./reference-rows.ts";

const name = "virtual:reference";
const id = `\0${name}`;
/** Not imported above: Vite would bundle the program, its stores and their SQL with its configuration. */
const commandRows = fileURLToPath(new URL("./command-rows.ts", import.meta.url));

export function referencePlugin(): Plugin {
  return {
    name: "holdfast-reference",
    resolveId: (source) => (source === name ? id : undefined),
    load: async (source) => {
      if (source !== id) return undefined;
      const { commands, sharedFlags } = (await import(
        commandRows
      )) as typeof import("./command-rows.ts");
      return Object.entries({ ...referenceRows, commands, sharedFlags })
        .map(([key, rows]) => `export const ${key} = ${JSON.stringify(rows)};`)
        .join("\n");
    },
  };
}
