// The output of commands: tables and text, or one JSON value per line with `--json`. Results go to
// standard output, progress and errors to standard error.

import { clearLine, cursorTo } from "node:readline";
import Table from "cli-table3";
import colors from "picocolors";

export type Cell = string | number;

export type Column<Item> = readonly [head: string, cellOf: (item: Item) => Cell];

export interface Output {
  readonly isJson: boolean;
  readonly paint: ReturnType<typeof colors.createColors>;
  /** Prints a result: as JSON, or as the text for people. */
  result(value: unknown, format: () => string): void;
  /** Prints a text for people; nothing with `--json`. */
  note(text: string): void;
  table(head: readonly string[], rows: readonly (readonly Cell[])[]): string;
  /** `what`: the plural noun of the count. */
  progress(what: string): Progress;
}

/** Drawn only if standard error is a terminal. */
export interface Progress {
  /** `share`: 0 to 1; absent if the total is unknown. */
  update(count: number, share?: number): void;
  end(): void;
}

/** The columns that are not empty or 0 for every item. */
export function neededColumns<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
): readonly Column<Item>[] {
  return columns.filter(([, cellOf]) => items.some(cellOf));
}

export function tableOf<Item>(
  { table }: Pick<Output, "table">,
  items: readonly Item[],
  columns: readonly Column<Item>[],
): string {
  const rows = items.map((item) => columns.map(([, cellOf]) => cellOf(item)));
  return table(
    columns.map(([head]) => head),
    rows,
  );
}

function wantsColor(): boolean {
  return process.stdout.isTTY === true && !process.env["NO_COLOR"];
}

const noBorders = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

export function openOutput(isJson: boolean): Output {
  const paint = colors.createColors(wantsColor());
  return {
    isJson,
    paint,

    result(value, format) {
      process.stdout.write(`${isJson ? JSON.stringify(value) : format()}\n`);
    },

    note(text) {
      if (!isJson) process.stderr.write(`${text}\n`);
    },

    table(head, rows) {
      const table = new Table({
        chars: noBorders,
        style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
        head: head.map((name) => paint.bold(name)),
        colAligns: head.map((_, column) =>
          rows.length > 0 && rows.every((row) => typeof row[column] === "number")
            ? "right"
            : "left",
        ),
      });
      table.push(...rows.map((row) => row.map((cell) => escaped(String(cell)))));
      return table
        .toString()
        .split("\n")
        .map((line) => line.trimEnd())
        .join("\n");
    },

    progress: drawnProgress,
  };
}

const drawEveryMs = 100;
const barWidth = 30;

function drawnProgress(what: string): Progress {
  const stream = process.stderr;
  if (!stream.isTTY) return { update: () => undefined, end: () => undefined };
  const begun = performance.now();
  let drawnAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  let share: number | undefined;
  const draw = (): void => {
    const seconds = (performance.now() - begun) / 1_000;
    const rate = seconds > 0 ? Math.round(count / seconds) : 0;
    const filled = Math.round(Math.min(1, share ?? 0) * barWidth);
    const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)} `;
    clearLine(stream, 0);
    cursorTo(stream, 0);
    const [counted, perSecond] = [count, rate].map((value) => value.toLocaleString("en-US"));
    stream.write(`${share === undefined ? "" : bar}${counted} ${what}, ${perSecond}/s`);
  };
  return {
    update(now, nowShare) {
      count = now;
      share = nowShare;
      if (performance.now() - drawnAt < drawEveryMs) return;
      drawnAt = performance.now();
      draw();
    },
    end() {
      draw();
      stream.write("\n");
    },
  };
}

/** `1 item`, `2 items`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Escapes control characters and line breaks, such as `\u001b`: payloads are untrusted. */
export function escaped(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The whole text on one line, so that it can be copied from a cell. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

/** The text on one line, cut to fit a cell. */
export function shortened(text: string, max = 60): string {
  const line = oneLine(text);
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}
