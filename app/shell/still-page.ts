// The text of the page that the reader arrived at. It came with the document and has
// nothing in it that React would have to know, so neither its code is asked for nor its
// elements are hydrated: only what is around it. Texts visited later are rendered.

import type { PageHandle, TocEntry } from "../content-types.ts";

interface StillPage {
  readonly id: string;
  readonly html: string;
}

let arrived: StillPage | null = null;

/** Before anything is hydrated; returns the page's handle with what the document has already. */
export function keepStillPage(id: string, handle: unknown): unknown {
  const body = document.querySelector("[data-still]");
  if (body !== null) arrived = { id, html: body.innerHTML };
  const links = [...document.querySelectorAll(".toc-inline [data-depth] > a")];
  const toc: readonly TocEntry[] = links.map((link) => ({
    depth: Number(link.parentElement?.dataset["depth"]),
    id: link.getAttribute("href")?.slice(1) ?? "",
    text: link.textContent,
  }));
  return { ...(handle as Omit<PageHandle, "toc">), toc };
}

export function stillHtml(id: string): string | null {
  return arrived?.id === id ? arrived.html : null;
}

export function isStill(handle: unknown): handle is PageHandle {
  return (handle as Partial<PageHandle> | undefined)?.isStill === true;
}
