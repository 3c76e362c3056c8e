// The build's facts about a page's files, passed to the document.

import { createContext } from "react";

interface PageAssets {
  /** Address of the script that starts the page's behaviours and islands. */
  readonly entry: string;
  /** In development, the script that reloads modules; it must run before any of them. */
  readonly reloader?: string | undefined;
}

export const PageAssetsContext = createContext<PageAssets>({ entry: "" });

/** Placeholder for the page's styles until its content is known. */
export const stylesMark = "/* styles */";
