// Twelve seconds in the life of a queue, over and over: two leases, one completed, one
// that lapses. The drawing stands still until a script starts it, so that whoever sees
// it move can also stop it.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { loopMs, stillMs, tracks } from "./lease-loop-story.ts";

const items = ["a", "b", "c", "d", "e", "f", "g"] as const;

const lines = [
  { key: "first", code: "200", text: "worker-1 leases the item at the head" },
  { key: "second", code: "200", text: "worker-2 leases the next one" },
  { key: "done", code: "200", text: "worker-1 completes: gone for good" },
  { key: "lapse", code: "···", text: "worker-2’s lease lapses" },
  { key: "late", code: "453", text: "worker-2 completes too late" },
] as const;

/** The animations of the drawing, paused at the instant of the still frame. */
function animate(drawing: Element): Animation[] {
  return tracks.flatMap(({ target, frames }) =>
    [...drawing.getElementsByClassName(target)].map((element) => {
      const animation = element.animate(frames, {
        duration: loopMs,
        iterations: Number.POSITIVE_INFINITY,
      });
      animation.pause();
      animation.currentTime = stillMs;
      return animation;
    }),
  );
}

export function LeaseLoop(): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const animations = useRef<Animation[]>([]);
  const [isReady, setReady] = useState(false);
  const [isPlaying, setPlaying] = useState(false);
  const [isVisible, setVisible] = useState(false);

  useEffect(() => {
    setReady(true);
    setPlaying(!matchMedia("(prefers-reduced-motion: reduce)").matches);
    const element = frame.current;
    if (element === null) return;
    const observer = new IntersectionObserver(([entry]) => {
      const isSeen = entry?.isIntersecting === true;
      if (isSeen && animations.current.length === 0) animations.current = animate(element);
      setVisible(isSeen);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      for (const animation of animations.current) animation.cancel();
      animations.current = [];
    };
  }, []);

  useEffect(() => {
    for (const animation of animations.current) {
      if (isPlaying && isVisible) animation.play();
      else animation.pause();
    }
  }, [isPlaying, isVisible]);

  return (
    <div className="hf-loop" ref={frame}>
      {drawing}
      <button
        type="button"
        className="hf-loop-button"
        disabled={!isReady}
        data-ready={isReady}
        onClick={() => setPlaying(!isPlaying)}
      >
        {isPlaying ? "Pause" : "Play"}
      </button>
    </div>
  );
}

function Drawing(): ReactNode {
  return (
    <svg
      viewBox="0 0 360 404"
      role="img"
      aria-label="A queue of items. Two workers each hold one in a clamp while a timer runs down. One completes, and its item is gone. The lease of the other lapses, and its item goes back to the tail with attempts 2; its late complete is refused with 453."
    >
      <text className="hf-loop-label" x="0" y="20">
        queue orders
      </text>
      <path className="hf-loop-rail" d="M100 88H336" />
      <path className="hf-loop-way" d="M332 64H352V156H120V170M268 156V170" />
      <path className="hf-loop-way hf-loop-back" d="M268 170V124H52V64H100" />
      <path className="hf-loop-way" d="M120 276V315" />
      <text className="hf-loop-label" x="76" y="117">
        lapsed: to the tail
      </text>
      <Clamp name="one" x={120} />
      <Clamp name="two" x={268} />
      <text className="hf-loop-label" x="120" y="264" textAnchor="middle">
        worker-1
      </text>
      <text className="hf-loop-label" x="268" y="264" textAnchor="middle">
        worker-2
      </text>
      <rect className="hf-loop-slot" x="107" y="315" width="26" height="26" rx="2" />
      <text className="hf-loop-label" x="146" y="333">
        completed
      </text>
      {items.map((name) => (
        <g key={name} className={`hf-loop-item hf-loop-${name}`}>
          <rect x="-11" y="-11" width="22" height="22" rx="1.5" />
          {name === "b" && (
            <text className="hf-loop-badge" y="5" textAnchor="middle">
              2
            </text>
          )}
        </g>
      ))}
      <path className="hf-loop-rail" d="M0 364H360" />
      {lines.map(({ key, code, text }) => (
        <text key={key} className={`hf-loop-line hf-loop-line-${key}`} x="0" y="392">
          <tspan className={code === "453" ? "hf-loop-refused" : "hf-loop-code"}>{code}</tspan>
          <tspan dx="10">{text}</tspan>
        </text>
      ))}
    </svg>
  );
}

/** Made once, so that a button that changes does not draw it again. */
const drawing = <Drawing />;

function Clamp({ name, x }: { readonly name: "one" | "two"; readonly x: number }): ReactNode {
  return (
    <>
      <path className={`hf-loop-jaw hf-loop-left-${name}`} d={`M${x - 14} 182h-10v48h10`} />
      <path className={`hf-loop-jaw hf-loop-right-${name}`} d={`M${x + 14} 182h10v48h-10`} />
      <path className="hf-loop-track" d={`M${x - 24} 242h48`} />
      <rect
        className={`hf-loop-bar hf-loop-bar-${name}`}
        x={x - 24}
        y="241"
        width="48"
        height="2"
      />
    </>
  );
}
