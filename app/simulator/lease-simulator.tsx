// An interactive simulation of one queue in the page, without a server.

import type { ReactNode } from "react";
import { ConsumerPanel, EventLog, Partition, Tray } from "./parts.tsx";
import { waitingMax } from "./queue.ts";
import { type SimulationControls, type Speed, speeds, useSimulation } from "./use-simulation.ts";

export function LeaseSimulator(): ReactNode {
  const controls = useSimulation();
  const { simulation, announcement, send, frame } = controls;
  const { consumers, completed, dead, log } = simulation;
  return (
    <section className="sim" ref={frame} aria-label="Lease simulator">
      <header className="sim-head cluster">
        <p>
          Stall or crash a worker: its lease lapses, and the item comes back under a new id. The
          rules are the server's own, <code>engine/model/lifecycle.ts</code>, run in this page.
        </p>
        <Transport {...controls} />
      </header>
      <Partition simulation={simulation} />
      <div className="sim-workers">
        {consumers.map((consumer) => (
          <ConsumerPanel key={consumer.name} {...{ consumer, simulation, send }} />
        ))}
      </div>
      <div className="sim-foot">
        <div className="sim-ends">
          <Tray name="completed" labels={completed} />
          <Tray name="dead queue" labels={dead.map(({ label }) => label)} />
        </div>
        <Rules {...controls} />
        <EventLog log={log} />
      </div>
      <p className="visually-hidden" aria-live="polite">
        {announcement}
      </p>
    </section>
  );
}

function Transport(controls: SimulationControls): ReactNode {
  const { simulation, send, isPlaying, setPlaying } = controls;
  const isFull = simulation.ready.length >= waitingMax;
  return (
    <div className="sim-transport">
      {[1, 5].map((count) => (
        <button
          key={count}
          type="button"
          className={count === 1 ? "sim-main" : undefined}
          disabled={isFull}
          onClick={() => send({ kind: "produce", count })}
        >
          Produce {count}
        </button>
      ))}
      <button type="button" onClick={() => setPlaying(!isPlaying)}>
        {isPlaying ? "Pause" : "Play"}
      </button>
      <button type="button" onClick={() => send({ kind: "reset" })}>
        Reset
      </button>
    </div>
  );
}

function Rules({ simulation, send, speed, setSpeed }: SimulationControls): ReactNode {
  const { leaseTimeoutMs, maxAttempts } = simulation.settings;
  const seconds = leaseTimeoutMs / 1_000;
  return (
    <fieldset className="sim-rules">
      <legend className="figure fine">rules of the queue</legend>
      <label>
        <span className="figure">lease_timeout</span>
        <input
          type="range"
          min={1}
          max={12}
          value={seconds}
          aria-valuetext={`${seconds} seconds`}
          onChange={({ currentTarget: { value } }) =>
            send({ kind: "settings", settings: { leaseTimeoutMs: Number(value) * 1_000 } })
          }
        />
        <b className="figure">{seconds}s</b>
      </label>
      <Choice
        name="max_attempts"
        options={[0, 1, 2, 3, 4, 5].map((count) => [count, count === 0 ? "0, no limit" : count])}
        value={maxAttempts}
        choose={(chosen) => send({ kind: "settings", settings: { maxAttempts: chosen } })}
      />
      <Choice
        name="speed"
        options={speeds.map((factor) => [factor, `${factor} ×`])}
        value={speed}
        choose={(chosen) => setSpeed(chosen as Speed)}
      />
      <label className="sim-check">
        <input
          type="checkbox"
          checked={simulation.automatic}
          onChange={(event) => send({ kind: "automatic", automatic: event.currentTarget.checked })}
        />
        <span>items come and workers work by themselves</span>
      </label>
    </fieldset>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly options: readonly (readonly [value: number, label: ReactNode])[];
  readonly value: number;
  readonly choose: (value: number) => void;
}

function Choice({ name, options, value, choose }: ChoiceProps): ReactNode {
  return (
    <label>
      <span className="figure">{name}</span>
      <select value={value} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {options.map(([option, label]) => (
          <option key={option} value={option}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
