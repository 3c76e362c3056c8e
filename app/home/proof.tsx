import type { ReactNode } from "react";

interface Claim {
  readonly title: string;
  readonly text: string;
  readonly checks: readonly { readonly name: string; readonly code: string }[];
}

const claims: readonly Claim[] = [
  {
    title: "It is on disk",
    text: "A turn of the engine makes one commit with one sync, and its answers leave after that. What is answered is there after a kill -9 and, with durability full, after a power cut.",
    checks: [
      { name: "endpoint", code: 'GET /health  "durability":"full"' },
      { name: "metric", code: "holdfast_commit_seconds" },
      { name: "test", code: "bun test server/lifecycle.test.ts" },
    ],
  },
  {
    title: "One holder can finish it",
    text: "A lapsed lease puts the item at the tail under a new id. The old id then names nothing, so whoever comes late with it changes nothing.",
    checks: [
      { name: "call", code: "complete again: 453, with the reason per id" },
      { name: "metric", code: "holdfast_item_ends_total" },
      { name: "test", code: "bun test engine/complete.test.ts" },
    ],
  },
  {
    title: "The server knows where it is",
    text: "Ready, leased, scheduled or dead: the counts are written in the commit that changes them, so they are exact after a crash too.",
    checks: [
      { name: "call", code: "POST /v1/queue.inspect" },
      { name: "call", code: "POST /v1/storage/items.list" },
      { name: "metric", code: "holdfast_items" },
      { name: "test", code: "bun test engine/counters.test.ts" },
    ],
  },
];

export function Proof(): ReactNode {
  return (
    <section className="hf-home-section" aria-labelledby="proof">
      <header className="hf-home-intro">
        <h2 id="proof">Three claims, and how to check them</h2>
        <p>On your own machine, with what the server and the repository bring.</p>
      </header>
      <ol className="hf-claims">
        {claims.map(({ title, text, checks }) => (
          <li key={title} className="hf-claim">
            <h3>{title}</h3>
            <p>{text}</p>
            <dl>
              {checks.map(({ name, code }) => (
                <div key={code}>
                  <dt>{name}</dt>
                  <dd>
                    <code>{code}</code>
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ol>
    </section>
  );
}
