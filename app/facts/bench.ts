// Figures for the site from the committed results.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { contentFolder, listMdx } from "../build/content.ts";
import { readBenchData } from "../charts/bench-results.ts";
import { namesIn, shownFigure, shownRatios } from "../charts/figures.ts";
import { goals, judge } from "../charts/goals.ts";
import { chartOf, type Group, groups, peerSettings } from "../charts/groups.ts";

const data = readBenchData();
const names = listMdx(".").flatMap((file) =>
  namesIn(readFileSync(join(contentFolder, `${file}.mdx`), "utf8")),
);

export const charts = Object.fromEntries(
  groups.map((group) => [group, chartOf(data, group)]),
) as Readonly<Record<Group, ReturnType<typeof chartOf>>>;
export const figures = Object.fromEntries(names.map((name) => [name, shownFigure(data, name)]));
export const ratios = shownRatios(data);
export const settings = peerSettings(data);
export const judged = goals.map((goal) => judge(goal, data));
