// One queue to play with, in the page: no server is asked.

import type { ReactNode } from "react";
import { ConsumerPanel } from "./consumer-panel.tsx";
import { EventLog } from "./event-log.tsx";
import { Partition, Tray } from "./partition.tsx";
import { type Simulation, waitingMax } from "./queue.ts";
import { type SimulationControls, type Speed, speeds, useSimulation } from "./use-simulation.ts";

export function LeaseSimulator(): ReactNode {
  const controls = useSimulation();
  const { simulation, said, send, isReady, frame } = controls;
  return (
    <section className="hf-sim" ref={frame} aria-label="Lease simulator">
      <header className="hf-sim-head">
        <p>
          Stall or crash a worker: its lease lapses, and the item comes back under a new id. The
          rules are the server's own, <code>engine/lifecycle.ts</code>, run in this page.
        </p>
        <Transport {...controls} />
      </header>
      <Partition simulation={simulation} />
      <div className="hf-sim-workers">
        {simulation.consumers.map((consumer) => (
          <ConsumerPanel
            key={consumer.name}
            consumer={consumer}
            simulation={simulation}
            send={send}
            isReady={isReady}
          />
        ))}
      </div>
      <div className="hf-sim-foot">
        <div className="hf-sim-trays">
          <Ends simulation={simulation} />
          <Rules {...controls} />
        </div>
        <EventLog log={simulation.log} />
      </div>
      <p className="hf-sim-said" aria-live="polite">
        {said}
      </p>
    </section>
  );
}

function Transport({
  simulation,
  send,
  isReady,
  isPlaying,
  setPlaying,
}: SimulationControls): ReactNode {
  const room = waitingMax - simulation.ready.length;
  return (
    <div className="hf-sim-transport">
      <button
        type="button"
        className="hf-sim-main"
        disabled={!isReady || room === 0}
        onClick={() => send({ kind: "produce", count: 1 })}
      >
        Produce 1
      </button>
      <button
        type="button"
        disabled={!isReady || room === 0}
        onClick={() => send({ kind: "produce", count: 5 })}
      >
        Produce 5
      </button>
      <button
        type="button"
        className="hf-sim-play"
        disabled={!isReady}
        onClick={() => setPlaying(!isPlaying)}
      >
        {isPlaying ? "Pause" : "Play"}
      </button>
      <button type="button" disabled={!isReady} onClick={() => send({ kind: "reset" })}>
        Reset
      </button>
      <output className="hf-sim-clock" aria-label="Time in the model">
        {(simulation.now / 1_000).toFixed(1)} s
      </output>
    </div>
  );
}

function Ends({ simulation }: { readonly simulation: Simulation }): ReactNode {
  const { completed, dead } = simulation;
  return (
    <div className="hf-sim-ends">
      <Tray
        name="completed"
        kind="done"
        count={completed.length}
        items={completed.slice(-8).map((label) => ({ key: label, label }))}
      />
      <Tray
        name="dead queue"
        kind="dead"
        count={dead.length}
        items={dead.slice(-8).map(({ id, label }) => ({ key: String(id), label }))}
      />
    </div>
  );
}

const attemptChoices = [0, 1, 2, 3, 4, 5] as const;

function Rules({ simulation, send, isReady, speed, setSpeed }: SimulationControls): ReactNode {
  const { leaseTimeoutMs, maxAttempts } = simulation.settings;
  return (
    <fieldset className="hf-sim-rules" disabled={!isReady}>
      <legend>Rules of the queue</legend>
      <label>
        <span>lease_timeout</span>
        <input
          type="range"
          min={1}
          max={12}
          step={1}
          value={leaseTimeoutMs / 1_000}
          aria-valuetext={`${leaseTimeoutMs / 1_000} seconds`}
          onChange={(event) =>
            send({
              kind: "settings",
              settings: { leaseTimeoutMs: Number(event.currentTarget.value) * 1_000 },
            })
          }
        />
        <b>{leaseTimeoutMs / 1_000}s</b>
      </label>
      <label>
        <span>max_attempts</span>
        <select
          value={maxAttempts}
          onChange={(event) =>
            send({ kind: "settings", settings: { maxAttempts: Number(event.currentTarget.value) } })
          }
        >
          {attemptChoices.map((choice) => (
            <option key={choice} value={choice}>
              {choice === 0 ? "0, no limit" : choice}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>speed</span>
        <select
          value={speed}
          onChange={(event) => setSpeed(Number(event.currentTarget.value) as Speed)}
        >
          {speeds.map((choice) => (
            <option key={choice} value={choice}>
              {choice} ×
            </option>
          ))}
        </select>
      </label>
      <label className="hf-sim-check">
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
