// Texts about speed contain no measured numbers: these would outlive their results file.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../content");

/**
 * Rates, microseconds and fractions anywhere; ratios, percentages and durations in texts with
 * figures; beside charts also comparisons, unless they accompany their figure.
 */
const rate =
  /\d\s?µs|\ba (tenth|third|quarter|hundredth) of (a core|the (\w+ )?(time|rate|cost))\b|\d[\d.,]*\s*[kM]?\s*(\w+\s?)?(\/\s?s\b|(per|a) second\b)/;
const measured = /\d[\d.,]*\s*(ms|µs|s|seconds?|milliseconds?|×|times|%|per cent)(?![\w-])/;
const compared =
  /\b(fast|slow)(er|est)\b|\bas (fast|slow) as\b|\b(twice|times|half) as\b|\bbeats?\b|\bwins?\b/i;

interface Block {
  readonly file: string;
  readonly text: string;
}

/** Paragraphs of prose, without front matter, code and tables; a component counts as one word. */
function blocksOf(file: string, source: string): readonly Block[] {
  return source
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .replaceAll(/```[\s\S]*?```|`[^`\n]*`|\{\/\*[\s\S]*?\*\/\}/g, "CODE")
    .replaceAll(/<[A-Z]\w*\s[^>]*?\/>/g, "FIGURE")
    .split(/\n{2,}/)
    .map((text) => ({ file, text: text.replaceAll(/\s+/g, " ").trim() }));
}

function faultsIn(file: string, source: string): readonly string[] {
  const hasFigures = /<(Bench\w+|PeerRatio)\s/.test(source);
  const hasCharts = source.includes("<BenchChart ");
  return blocksOf(file, source).flatMap(({ text }) => {
    const found =
      rate.exec(text) ??
      (hasFigures ? measured.exec(text) : null) ??
      (hasCharts && !text.includes("FIGURE") ? compared.exec(text) : null);
    return found === null ? [] : [`${file}: '${found[0]}' in: ${text.slice(0, 120)}`];
  });
}

const figure = '<BenchFigure name="a: b" />';

test.each([
  [`It took 12 ms. ${figure}`, 1],
  [`It did 1.5 × as much. ${figure}`, 1],
  [`${figure}\n\nRedis was faster.`, 0],
  [`${figure}\n\n<BenchChart group="all" />\n\nRedis was faster.`, 1],
  ["It took 3,000 items/s.", 1],
  ["It did 300 items a second.", 1],
  ["It costs 0.2 µs.", 1],
  ["It saves a tenth of the time.", 1],
  [`A lease of ${figure}, which is faster.`, 0],
  ["The lease lapses after 30 s.", 0],
  [`\`--timeout 30s\` ${figure}`, 0],
])("rule: %s", (source, count) => {
  expect(faultsIn("a", source)).toHaveLength(count);
});

test("content: rates, ratios and comparisons come from the results files", () => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    // A separate test compares the table of this page with its file.
    .filter((file) => file.endsWith(".mdx") && file !== "docs/postgresql.mdx")
    .sort();
  expect(files.length).toBeGreaterThan(10);
  const faults = files.flatMap((file) => faultsIn(file, readFileSync(join(folder, file), "utf8")));
  expect(faults).toEqual([]);
});
