// Finds the code samples of a page, and tells whether what one printed is what the
// page shows.

const roles = ["test", "serve", "output"] as const;
/** `serve`: it goes on running, beside those that come after it. */
type Role = (typeof roles)[number];

export interface Fence {
  readonly lang: string;
  /** Name after `test=`, `serve=` or `output=`. */
  readonly id: string;
  readonly role: Role;
  readonly exit: number;
  /** The name of a server that is killed before. */
  readonly killed: string | null;
  readonly code: string;
  /** Where it starts on the page. */
  readonly line: number;
  /** The label of the tab that it stands in. */
  readonly tab: string | null;
}

export interface Sample {
  readonly fence: Fence;
  readonly output: Fence | null;
}

/** The fences that take part in tests; those in tabs stand at the margin as well. */
export function fencesOf(text: string): readonly Fence[] {
  return [...text.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].flatMap((match): Fence[] => {
    const [, lang = "", meta = "", code = ""] = match;
    const [, word, id] = /\b(test|serve|output)=([\w-]+)/.exec(meta) ?? [];
    const role = roles.find((one) => one === word);
    if (id === undefined || role === undefined) return [];
    const exit = Number(/\bexit=(\d+)/.exec(meta)?.[1] ?? 0);
    const [, killed = null] = /\bkilled=([\w-]+)/.exec(meta) ?? [];
    const before = text.slice(0, match.index);
    const line = before.split("\n").length;
    const [, tab = null] = /<Tab label="([^"]+)">(?![\s\S]*<\/Tab>)/.exec(openTab(before)) ?? [];
    return [{ lang, id, role, exit, killed, code, line, tab }];
  });
}

/** From the last tab that begins in the text. */
function openTab(text: string): string {
  return text.slice(Math.max(0, text.lastIndexOf("<Tab label=")));
}

/** Throws where a name is given twice, or an output does not follow a sample of its name. */
export function samplesOf(fences: readonly Fence[]): readonly Sample[] {
  const samples = new Map<string, Sample>();
  for (const fence of fences) {
    const known = samples.get(fence.id);
    if (fence.role !== "output") {
      if (known !== undefined) throw new Error(`${fence.role}=${fence.id} is given twice`);
      samples.set(fence.id, { fence, output: null });
    } else if (known === undefined) {
      throw new Error(`output=${fence.id} has no sample before it`);
    } else if (known.output !== null) {
      throw new Error(`output=${fence.id} is given twice`);
    } else {
      samples.set(fence.id, { ...known, output: fence });
    }
  }
  return [...samples.values()];
}

/**
 * Tabs are alternatives, of which a reader takes one. The first reading takes the first tab and
 * goes to the end of the page; there is one more for each other tab, which ends there.
 */
export function readingsOf(samples: readonly Sample[]): readonly (readonly Sample[])[] {
  const tabs = [...new Set(samples.map(({ fence }) => fence.tab))].filter((tab) => tab !== null);
  const isRead = (tab: string | undefined, { fence }: Sample) =>
    fence.tab === null || fence.tab === tab;
  return [tabs[0], ...tabs.slice(1)].map((tab, index) => {
    const last = samples.findLastIndex(({ fence }) => fence.tab === tab);
    const until = index === 0 ? samples : samples.slice(0, last + 1);
    return until.filter((sample) => isRead(tab, sample));
  });
}

const idPattern = /\b1[0-9A-Za-z]{26}\b/g;
/** The id of a task: of a call with a key, or of one without. */
const taskPattern = /\b(?:k[0-9a-f]{24}|r(?=[a-z]*\d)[0-9a-z]{8,11})\b/g;
const keyPattern = /\bholdfast_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g;
/** As texts have it, and as names of files do. */
const instantPattern = /\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z/g;

/**
 * Compares texts of which ids, API keys and instants may differ. An id of the page stands for
 * one id of the run and keeps standing for it: what is the same on the page has to be
 * the same there, and what differs has to differ.
 */
export class Likeness {
  readonly #actual = new Map<string, string>();

  /** A sample with the ids of the page replaced by those of the run. */
  translate(code: string): string {
    return code.replaceAll(idPattern, (id) => this.#actual.get(id) ?? id);
  }

  /** `null` when alike. */
  difference(shown: string, printed: string): { shown: string; printed: string } | null {
    const [expected, actual] = [canonical(shown), canonical(printed)];
    const expectedIds = expected.match(idPattern) ?? [];
    const actualIds = actual.match(idPattern) ?? [];
    const told = { shown: expected, printed: actual };
    if (blanked(expected) !== blanked(actual)) return told;
    for (const [index, id] of expectedIds.entries()) {
      const other = actualIds[index];
      if (other === undefined || !this.#pair(id, other)) return told;
    }
    return null;
  }

  #pair(shown: string, actual: string): boolean {
    const known = this.#actual.get(shown);
    if (known !== undefined) return known === actual;
    if ([...this.#actual.values()].includes(actual)) return false;
    this.#actual.set(shown, actual);
    return true;
  }
}

/** JSON is compared as a value, whatever its layout; ids that are keys keep their order. */
function canonical(text: string): string {
  try {
    return JSON.stringify(sorted(JSON.parse(text)), null, 1);
  } catch {
    return text.trim();
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  const isById = entries.some(([key]) => key.search(idPattern) !== -1);
  return Object.fromEntries(isById ? entries : entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function blanked(text: string): string {
  return text
    .replaceAll(idPattern, "<id>")
    .replaceAll(keyPattern, "<key>")
    .replaceAll(taskPattern, "<task>")
    .replaceAll(instantPattern, "<instant>");
}
