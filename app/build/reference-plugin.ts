// `virtual:reference`: the rows of the generated tables. Pages import data, not the
// server's modules, which would bring their schemas along.

import type { Plugin } from "vite";
import { referenceRows } from "./reference-rows.ts";

const name = "virtual:reference";
const id = `\0${name}`;

export function referencePlugin(): Plugin {
  return {
    name: "holdfast-reference",
    resolveId: (source) => (source === name ? id : undefined),
    load: (source) =>
      source === id
        ? Object.entries(referenceRows)
            .map(([key, rows]) => `export const ${key} = ${JSON.stringify(rows)};`)
            .join("\n")
        : undefined,
  };
}
