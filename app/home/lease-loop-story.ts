// Who is where in the twelve seconds of the loop, as keyframes; pure. The end of each
// second round is the beginning: an item that stands where another began takes its part.

export const loopMs = 12_000;
/** The drawing without a script is the frame at this instant, and the loop starts from it. */
export const stillMs = 3_000;

export interface Track {
  /** A class within the drawing. */
  readonly target: string;
  readonly frames: Keyframe[];
}

type Look = Readonly<Record<string, string | number>>;
/** Per cent of the loop from and to which something holds. */
type Beat = readonly [from: number, to: number, look: Look];

const ready: Look = { fill: "var(--bg)", stroke: "var(--text-muted)" };
const held: Look = { fill: "var(--accent-soft)", stroke: "var(--accent)" };
const done: Look = { fill: "var(--text)", stroke: "var(--text)" };
const gone: Look = { ...done, opacity: 0 };
const hidden: Look = { opacity: 0 };
const shown: Look = { opacity: 1 };

const rail = 64;
const lane = 156;
const grip = 206;
const exit = 328;
const one = 120;
const two = 268;
const corner = 352;
const entry = 52;
/** Places in the queue, from the head. */
const [first, second, third, fourth, fifth] = [316, 268, 220, 172, 124] as const;

function at(x: number, y: number, look: Look = {}): Look {
  return { transform: `translate(${x}px, ${y}px)`, ...look };
}

function track(target: string, easing: string, beats: readonly Beat[]): Track {
  const frames = beats.flatMap(([from, to, look]) =>
    (from === to ? [from] : [from, to]).map((percent) => ({
      ...look,
      easing,
      offset: percent / 100,
    })),
  );
  return { target, frames };
}

function item(name: string, beats: readonly Beat[]): Track {
  return track(`hf-loop-${name}`, "ease-in-out", beats);
}

const items: readonly Track[] = [
  item("a", [
    [0, 0, at(first, rail, ready)],
    [2, 2, at(corner, rail, ready)],
    [4, 4, at(corner, lane, ready)],
    [7, 7, at(one, lane, ready)],
    [9, 9, at(one, grip, ready)],
    [10.5, 44, at(one, grip, held)],
    [45, 48, at(one, grip, done)],
    [54, 55, at(one, exit, { ...done, opacity: 1 })],
    [59, 100, at(one, exit, gone)],
  ]),
  item("b", [
    [0, 3, at(second, rail, ready)],
    [5, 12, at(first, rail, ready)],
    [14, 14, at(corner, rail, ready)],
    [15.5, 15.5, at(corner, lane, ready)],
    [17.5, 17.5, at(two, lane, ready)],
    [19, 19, at(two, grip, ready)],
    [20.5, 75, at(two, grip, held)],
    [76, 76, at(two, grip, ready)],
    [78, 78, at(two, 124, ready)],
    [82, 82, at(entry, 124, ready)],
    [84, 84, at(entry, rail, ready)],
    [87, 100, at(fifth, rail, ready)],
  ]),
  item("c", [
    [0, 3, at(third, rail, ready)],
    [5, 13, at(second, rail, ready)],
    [15, 57, at(first, rail, ready)],
    [59, 59, at(corner, rail, ready)],
    [61, 61, at(corner, lane, ready)],
    [64, 64, at(one, lane, ready)],
    [66, 66, at(one, grip, ready)],
    [67.5, 88, at(one, grip, held)],
    [89, 90, at(one, grip, done)],
    [95, 95, at(one, exit, { ...done, opacity: 1 })],
    [98, 100, at(one, exit, gone)],
  ]),
  item("d", [
    [0, 3, at(fourth, rail)],
    [5, 13, at(third, rail)],
    [15, 58, at(second, rail)],
    [60, 100, at(first, rail)],
  ]),
  item("e", [
    [0, 3, at(fifth, rail)],
    [5, 13, at(fourth, rail)],
    [15, 58, at(third, rail)],
    [60, 100, at(second, rail)],
  ]),
  item("f", [
    [0, 8, at(entry, rail, hidden)],
    [11, 13, at(fifth, rail, shown)],
    [15, 58, at(fourth, rail, shown)],
    [60, 100, at(third, rail, shown)],
  ]),
  item("g", [
    [0, 30, at(entry, rail, hidden)],
    [33, 58, at(fifth, rail, shown)],
    [60, 100, at(fourth, rail, shown)],
  ]),
  track("hf-loop-badge", "linear", [
    [0, 76, hidden],
    [78, 98, shown],
    [100, 100, hidden],
  ]),
];

/** The jaws of a clamp that is closed in these spans. */
function jaws(name: string, closed: readonly (readonly [from: number, to: number])[]): Track[] {
  return (["left", "right"] as const).map((side) => {
    const shift = side === "left" ? -9 : 9;
    const open: Look = { opacity: 0.45, transform: `translateX(${shift}px)` };
    const shut: Look = { opacity: 1, transform: "translateX(0)" };
    return track(`hf-loop-${side}-${name}`, "ease-out", [
      [0, 0, open],
      ...closed.flatMap(([from, to]): Beat[] => [
        [from, from, open],
        [from + 1.5, to, shut],
        [to + 1.5, to + 1.5, open],
      ]),
      [100, 100, open],
    ]);
  });
}

function bar(name: string, beats: readonly (readonly [number, number, number])[]): Track {
  return track(
    `hf-loop-bar-${name}`,
    "linear",
    beats.map(([from, to, left]): Beat => [from, to, { transform: `scaleX(${left})` }]),
  );
}

function line(name: string, from: number, to: number): Track {
  return track(`hf-loop-line-${name}`, "linear", [
    [0, from - 0.8, hidden],
    [from, to, shown],
    [to + 0.8, 100, hidden],
  ]);
}

export const tracks: readonly Track[] = [
  ...items,
  ...jaws("one", [
    [9, 46],
    [66, 89],
  ]),
  ...jaws("two", [[19, 75]]),
  bar("one", [
    [0, 9, 0],
    [10, 10, 1],
    [45, 45, 0.35],
    [46, 66, 0],
    [67, 67, 1],
    [88, 88, 0.6],
    [89, 100, 0],
  ]),
  bar("two", [
    [0, 19, 0],
    [20, 20, 1],
    [75, 100, 0],
  ]),
  line("first", 6, 17),
  line("second", 19, 43),
  line("done", 45, 64),
  line("lapse", 75, 84),
  line("late", 86, 98),
];
