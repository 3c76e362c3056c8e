// The home page: the promise, how it is used, how it is checked, what it costs, what
// it lacks.

import type { ReactNode } from "react";
import { BenchChart } from "../charts/bench-chart.tsx";
import { Island } from "../islands/island.tsx";
import { SiteLink } from "../shell/site-link.tsx";
import { Comparison } from "./comparison.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Proof } from "./proof.tsx";
import { ThreeCalls } from "./three-calls.tsx";
import "./home.css";
import "./lease-loop.css";

const startCommand = "npx --yes bun start";

export function HomePage(): ReactNode {
  return (
    <div className="hf-home">
      <Hero />
      <ThreeCalls />
      <Proof />
      <Speed />
      <section className="hf-home-section" aria-labelledby="comparison">
        <header className="hf-home-intro">
          <h2 id="comparison">What it has, and what it lacks</h2>
          <p>
            It is one node: no replication, no cluster of brokers. The disk is the limit of
            durability.
          </p>
        </header>
        <Comparison />
      </section>
      <Next />
    </div>
  );
}

function Hero(): ReactNode {
  return (
    <section className="hf-hero">
      <div className="hf-hero-text">
        <h1>
          A 200 <br />
          is a proof.
        </h1>
        <p>
          Holdfast is a durable queue over plain HTTP. What a 200 answers is on disk, exactly one
          holder can finish an item, and the server can say where every item is.
        </p>
        <div className="hf-hero-actions">
          <SiteLink className="hf-primary" to="/docs/quick-start">
            Read the quick start
          </SiteLink>
          <div className="hf-install">
            <code>{startCommand}</code>
            <CopyButton text={startCommand} label="Copy the command" />
            <span>in a clone of the repository</span>
          </div>
        </div>
      </div>
      <div className="hf-hero-loop">
        <Island name="lease-loop" />
      </div>
    </section>
  );
}

function Speed(): ReactNode {
  return (
    <section className="hf-home-section" aria-labelledby="speed">
      <header className="hf-home-intro">
        <h2 id="speed">What the proof costs</h2>
        <p>
          Every item synced before its 200 and checked to have come exactly once, beside what SQLite
          costs alone. Where it loses, the bars say so:{" "}
          <SiteLink to="/blog/long-blog-post">how a sync is shared, and where time goes</SiteLink>.
        </p>
      </header>
      <BenchChart group="all" />
      <BenchChart group="peers" />
    </section>
  );
}

const next = [
  {
    to: "/docs/quick-start",
    title: "Quick start",
    text: "From nothing to a completed item, in curl, TypeScript, Python and Go.",
  },
  {
    to: "/docs/architecture",
    title: "Architecture",
    text: "Partitions, shards, turns, and why the sync is shared.",
  },
  { to: "/api", title: "API reference", text: "Every call, every field, every reply code." },
  {
    to: "/docs/faq",
    title: "Questions",
    text: "Where almost in almost exactly once comes from, and when to use something else.",
  },
] as const;

function Next(): ReactNode {
  return (
    <section className="hf-home-section hf-next" aria-labelledby="next">
      <h2 id="next">Where to go next</h2>
      <ul>
        {next.map(({ to, title, text }) => (
          <li key={to}>
            <SiteLink to={to}>{title}</SiteLink>
            <p>{text}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
