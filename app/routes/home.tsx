// The home page: the promise, a simulated queue, the first steps, the evidence for each claim, the
// costs and the limitations.

import type { ReactNode } from "react";
import Comparison from "../../content/parts/comparison.mdx";
import FirstSteps from "../../content/parts/first-steps.mdx";
import { BenchChart } from "../charts/bench-parts.tsx";
import { ConsolePicture } from "../components/console-picture.tsx";
import { claims } from "../home/claims.ts";
import { LeaseSimulator } from "../islands/lease-simulator.tsx";
import { PageMeta } from "../shell/page-meta.tsx";
import { SiteLink } from "../shell/site-link.tsx";
import { siteConfig } from "../site-config.ts";

export default function HomePage(): ReactNode {
  return (
    <main id="main" tabIndex={-1}>
      <PageMeta title={siteConfig.title} description={siteConfig.description} path="/" />
      <div className="home frame">
        <Hero />
        <Why />
        <Start />
        <Speed />
        <Lacks />
      </div>
    </main>
  );
}

function Hero(): ReactNode {
  return (
    <section className="home-hero">
      <h1>
        A <b>200</b> is a proof.
      </h1>
      <div>
        <p className="lead">
          Holdfast is a durable message queue over plain HTTP. What a 200 confirms is on disk,
          exactly one holder can finish an item, and the server can say where every item is.
        </p>
        <p className="home-hero-actions cluster">
          <a className="button" href="#start">
            Start in one paste
          </a>
          <SiteLink to="/docs/intro">What it promises</SiteLink>
        </p>
      </div>
      <LeaseSimulator />
    </section>
  );
}

function Why(): ReactNode {
  return (
    <section className="home-section home-why" aria-labelledby="why">
      <h2 id="why">It says why</h2>
      <p className="aside">
        Every server has a console at <code>/console</code>: what is the matter with a queue, which
        client holds what, what happens next, and why items died.{" "}
        <SiteLink to="/docs/console">The tour</SiteLink> shows all of it.
      </p>
      <SiteLink to="/docs/console">
        <ConsolePicture
          name="queue"
          alt="A queue in the console: a sentence that says what is the matter and what happens next, its figures, charts, partitions and clients"
        />
      </SiteLink>
    </section>
  );
}

function Start(): ReactNode {
  return (
    <section className="home-section home-start" aria-labelledby="start">
      <div>
        <h2 id="start">From nothing to a completed item</h2>
        <p className="aside">
          Every call is a POST with a JSON body: there is nothing to install in your program.{" "}
          <SiteLink to="/docs/quick-start">The quick start</SiteLink> goes on from here, with
          retries, a lapsed lease and the dead queue.
        </p>
      </div>
      <div>
        <FirstSteps />
      </div>
      <ul aria-label="What it claims, and how to check it">
        {claims.map(({ title, text, checks }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p>{text}</p>
            <p className="home-checks">
              {checks.map((check) => (
                <code key={check}>{check}</code>
              ))}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Speed(): ReactNode {
  return (
    <section className="home-section" aria-labelledby="speed">
      <h2 id="speed">What the proof costs</h2>
      <p className="aside">
        Every item is synced before its 200.{" "}
        <SiteLink to="/blog/long-blog-post">How a sync is shared</SiteLink> has the other queues
        too, and where Holdfast loses.
      </p>
      <BenchChart group="all" />
    </section>
  );
}

function Lacks(): ReactNode {
  return (
    <section className="home-section" aria-labelledby="comparison">
      <h2 id="comparison">What it lacks</h2>
      <p className="aside">
        Only on PostgreSQL can <SiteLink to="/docs/nodes">several nodes</SiteLink> share the work,
        and one queue is the work of one node. There are no recurring items.{" "}
        <SiteLink to="/docs/status#what-is-not-there">What is not there</SiteLink> has the whole
        list.
      </p>
      <details className="home-details">
        <summary>Beside ten other queues</summary>
        <div className="prose">
          <Comparison />
        </div>
      </details>
    </section>
  );
}
