// The sections of a page for the search, by heading, with their whole text.

import Slugger from "github-slugger";
import type { Nodes, Root } from "mdast";
import type { Section } from "../search/engine.ts";

/**
 * Readers look for the page that explains a subject, not for one that compares, describes
 * internals, lists or reports.
 */
const weights: readonly (readonly [RegExp, number])[] = [
  [/^\/docs\/(architecture|testing|comparison|postgresql|moving-from-.*)$/, 0.6],
  [/^\/api/, 0.7],
  [/^\/docs\/(errors\/|.*-reference|.*-files)|^\/blog\/|#/, 0.5],
  [/^\/docs\/changelog$/, 0.25],
];

const definitionWeight = 0.6;
/** Weight of a definition that links to the explaining page, which should rank higher. */
const pointerWeight = 0.4;

interface Page {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly tree: Root;
}

export function sectionsOf({ path, title, description, tree }: Page): readonly Section[] {
  const slugger = new Slugger();
  const empty = { page: title, text: "", code: "", weight: weightOf(path) };
  const sections = [{ ...empty, url: path, heading: title, text: description }];
  for (const node of tree.children) {
    const text = textOf(node).trim();
    const current = sections.at(-1);
    if (node.type === "heading" && node.depth > 1) {
      const url = `${path}#${slugger.slug(text)}`;
      if (node.depth <= 3) sections.push({ ...empty, url, heading: text });
    } else if (current !== undefined && node.type === "code") {
      current.code = codeWords(`${current.code} ${node.value}`);
    } else if (current !== undefined && isDefinition(node)) {
      const [word = "", ...rest] = text.split(". ");
      const weight = empty.weight * (hasLink(node) ? pointerWeight : definitionWeight);
      sections.push({ ...empty, weight, url: current.url, heading: word, text: rest.join(". ") });
    } else if (current !== undefined && node.type !== "heading") {
      current.text = `${current.text} ${text}`.trim();
    }
  }
  return sections;
}

/** A definition begins with its term in bold, in the glossary or in a list of terms. */
function isDefinition(node: Nodes): boolean {
  const [first] = node.type === "paragraph" ? node.children : [];
  return first?.type === "strong" && textOf(first).endsWith(".");
}

function hasLink(node: Nodes): boolean {
  return node.type === "paragraph" && node.children.some(({ type }) => type === "link");
}

export function weightOf(path: string): number {
  return weights.find(([places]) => places.test(path))?.[1] ?? 1;
}

/** The searchable words of a block of code: its names, each once, without ids or keys. */
function codeWords(code: string): string {
  const words = code.match(/\b[A-Za-z][\w.-]*\w/g) ?? [];
  return [...new Set(words)].filter((word) => !/\d{4}|.{40}/.test(word)).join(" ");
}

/** Elements whose children form one text; children of other elements are separate. */
const isRunning = /^(paragraph|heading|link|strong|emphasis|delete|tableCell)$/;

function textOf(node: Nodes): string {
  if (node.type === "html") return "";
  if (node.type === "break") return " ";
  if (!("children" in node)) return "value" in node ? node.value : "";
  const joined = node.children.map(textOf).join(isRunning.test(node.type) ? "" : " ");
  return joined.replace(/\s+/g, " ");
}
