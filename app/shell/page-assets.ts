// What the build knows of a page's files, handed to the document that names them.

import { createContext } from "react";

interface PageAssets {
  /** Address of the script that starts the page's behaviours and islands. */
  readonly entry: string;
  /** In development: what reloads modules, which has to run before any of them. */
  readonly reloader?: string | undefined;
}

export const PageAssetsContext = createContext<PageAssets>({ entry: "" });

/** Stands for the page's styles until it is known what is on the page. */
export const stylesMark = "/* styles */";
