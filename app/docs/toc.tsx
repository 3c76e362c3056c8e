// The contents of a page; the section that is being read is marked.

import { type ReactNode, useEffect, useState } from "react";
import type { TocEntry } from "../content-types.ts";

interface TocProps {
  readonly toc: readonly TocEntry[];
  /** In a column beside the text, or folded above it where there is none. */
  readonly kind: "side" | "inline";
}

export function Toc({ toc, kind }: TocProps): ReactNode {
  if (toc.length === 0) return null;
  if (kind === "side") return <SideToc toc={toc} />;
  return (
    <details className="toc-inline">
      <summary>On this page</summary>
      <TocList toc={toc} current={null} />
    </details>
  );
}

function SideToc({ toc }: Pick<TocProps, "toc">): ReactNode {
  const current = useCurrentSection(toc);
  return (
    <div className="toc">
      <nav aria-label="On this page">
        <p className="eyebrow">On this page</p>
        <TocList toc={toc} current={current} />
      </nav>
    </div>
  );
}

function TocList({ toc, current }: Pick<TocProps, "toc"> & { current: string | null }): ReactNode {
  return (
    <ul>
      {toc.map(({ id, text, depth }) => (
        <li key={id} data-depth={depth}>
          <a href={`#${id}`} {...(id === current ? { "aria-current": "location" as const } : {})}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The last heading that has passed the upper quarter of the window. */
function useCurrentSection(toc: readonly TocEntry[]): string | null {
  const [current, setCurrent] = useState<string | null>(null);
  useEffect(() => {
    let frame = 0;
    const update = () => {
      frame = 0;
      const passed = toc.filter(({ id }) => {
        const top = document.getElementById(id)?.getBoundingClientRect().top;
        return top !== undefined && top < innerHeight / 4;
      });
      const atEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
      setCurrent((atEnd ? toc.at(-1) : passed.at(-1))?.id ?? null);
    };
    const soon = () => {
      frame ||= requestAnimationFrame(update);
    };
    update();
    addEventListener("scroll", soon, { passive: true });
    return () => {
      removeEventListener("scroll", soon);
      cancelAnimationFrame(frame);
    };
  }, [toc]);
  return current;
}
