// Selects the styles of a page: the rules of the common sheet that match its content, or what its
// scripts may add.

import { transform } from "lightningcss";

interface Page {
  readonly html: string;
  /** The scripts that may run on it. */
  readonly scripts: string;
}

/** Layers determine which rule wins, so omitting a rule affects no other. */
export function pageStyles(sheet: string, { html, scripts }: Page): string {
  const attributes = [...html.matchAll(/ class="([^"]*)"/g)].map(([, names]) => names);
  const words = [...new Set([...attributes, scripts].join(" ").match(/[\w-]+/g))];
  /** Prefixes of names that the browser completes. */
  const beginnings = words.filter((word) => /\w-$/.test(word));
  const isShown = (name: string) =>
    words.includes(name) || beginnings.some((beginning) => name.startsWith(beginning));
  const names = new Set(sheet.match(/(?<=\.)[a-z][\w-]*/gi));
  const { code } = transform({
    filename: "page.css",
    code: Buffer.from(sheet),
    minify: true,
    unusedSymbols: [...names].filter((name) => !isShown(name)),
  });
  return code.toString();
}
