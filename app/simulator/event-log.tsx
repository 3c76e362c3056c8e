import { Fragment, type ReactNode } from "react";
import type { LogLine } from "./queue.ts";

export function EventLog({ log }: { readonly log: readonly LogLine[] }): ReactNode {
  return (
    <section className="hf-sim-log" aria-label="What happened, the newest first">
      <p className="hf-sim-eyebrow">
        <span>what the server answers</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <ol tabIndex={0}>
        {/* A row stays in its place when another line comes to stand there. */}
        {log.map(({ number, at, who, code, text }, row) => (
          <li key={row}>
            <Fragment key={number}>
              <time>{(at / 1_000).toFixed(1)}</time>
              <span className={`hf-sim-code hf-sim-code-${code ?? "none"}`}>{code ?? "·"}</span>
              <span>
                <b>{who}</b> {text}
              </span>
            </Fragment>
          </li>
        ))}
      </ol>
    </section>
  );
}
