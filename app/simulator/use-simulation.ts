// The simulator's clock, which ticks while it plays, is on screen and is not hidden.

import { useEffect, useReducer, useRef, useState } from "react";
import { initialSimulation, type SimEvent, step } from "./model.ts";
import type { Simulation } from "./queue.ts";

export const speeds = [0.5, 1, 2, 4] as const;
export type Speed = (typeof speeds)[number];

/** Fewer steps per second than frames: nothing moves fast enough to show the difference. */
const tickMs = 50;
/** Maximum step: after a pause of the page, time continues from where it was. */
const tickMsMax = 200;

interface AnnouncedSimulation {
  readonly simulation: Simulation;
  /** The effect of the last button press, for screen readers. */
  readonly announcement: string;
}

function advance(before: AnnouncedSimulation, event: SimEvent): AnnouncedSimulation {
  const simulation = step(before.simulation, event);
  const [line] = simulation.log;
  if (event.kind === "tick" || line === undefined || line === before.simulation.log[0])
    return { ...before, simulation };
  return {
    simulation,
    announcement: `${line.who}${line.code === null ? "" : ` ${line.code}`}: ${line.text}`,
  };
}

export type SimulationControls = ReturnType<typeof useSimulation>;

export function useSimulation() {
  const [{ simulation, announcement }, send] = useReducer(advance, {
    simulation: initialSimulation,
    announcement: "",
  });
  const [isPlaying, setPlaying] = useState(false);
  const [isVisible, setVisible] = useState(false);
  const [speed, setSpeed] = useState<Speed>(1);
  const frame = useRef<HTMLElement>(null);

  useEffect(() => {
    setPlaying(!matchMedia("(prefers-reduced-motion: reduce)").matches);
    const element = frame.current;
    if (element === null) return;
    const observer = new IntersectionObserver(([entry]) =>
      setVisible(entry?.isIntersecting === true),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (!isPlaying || !isVisible) return;
    let last = performance.now();
    const timer = setInterval(() => {
      const now = performance.now();
      const passed = Math.min(now - last, tickMsMax);
      last = now;
      if (!document.hidden) send({ kind: "tick", ms: Math.round(passed * speed) });
    }, tickMs);
    return () => clearInterval(timer);
  }, [isPlaying, isVisible, speed]);

  return { simulation, announcement, send, isPlaying, setPlaying, speed, setSpeed, frame };
}
