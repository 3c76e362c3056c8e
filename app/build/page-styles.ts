// The styles of a page: of the one sheet, the rules for what is on the page and for what its
// scripts may show.

import { transform } from "lightningcss";

interface Page {
  readonly html: string;
  /** What the browser may run on it. */
  readonly scripts: string;
}

/** Layers say which rule wins, so one that is left out changes no other. */
export function pageStyles(sheet: string, { html, scripts }: Page): string {
  const attributes = [...html.matchAll(/ class="([^"]*)"/g)].map(([, names]) => names);
  const words = [...new Set([...attributes, scripts].join(" ").match(/[\w-]+/g))];
  /** Of a name whose end is put to it in the browser. */
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
