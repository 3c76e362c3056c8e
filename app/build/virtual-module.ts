// What the build works out and pages import as data, under a name that is no file.

import type { Plugin } from "vite";

export function virtualModule(name: string, exportsOf: () => object | Promise<object>): Plugin {
  const id = `\0${name}`;
  return {
    name: `holdfast:${name}`,
    resolveId: (source) => (source === name ? id : undefined),
    async load(source) {
      if (source !== id) return undefined;
      return Object.entries(await exportsOf())
        .map(([key, value]) => `export const ${key} = ${JSON.stringify(value)};`)
        .join("\n");
    },
  };
}
