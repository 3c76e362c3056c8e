// Sends the corpus and its damaged variants to a server over sockets. After each batch the server
// must work as before.

import { seededRandom } from "../../../engine/simulation/seeded-random.ts";
import type { Target } from "../target.ts";
import { rawBodies } from "./raw-bodies.ts";
import { type RawRow, rawCorpus } from "./raw-corpus.ts";
import { type Exchange, exchange } from "./raw-exchange.ts";
import { mutated } from "./raw-mutations.ts";

export interface RawReport {
  readonly figures: Record<string, number>;
  readonly faults: string[];
}

export interface RawOptions {
  readonly target: Target;
  /** Damaged requests, in addition to the rows of the corpus. */
  readonly count: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

export const allRows: readonly RawRow[] = [...rawCorpus, ...rawBodies];

const lanes = 16;
const batchSize = 500;
/** A damaged request often lacks its end, and the server waits for the rest. */
const quietMs = 40;
const answerMsMax = 60_000;
const shownBytes = 600;

/** The HTTP parser itself may refuse another version. */
const versionNotSupported = 505;
/** The answer to an unknown method. */
const notImplemented = 501;

export async function tryRaw({ target, count, seed, log }: RawOptions): Promise<RawReport> {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  let canaryMsMax = 0;
  const sing = async (after: string): Promise<void> => {
    try {
      canaryMsMax = Math.max(canaryMsMax, await target.canary());
    } catch (error) {
      faults.push(`canary after ${after}: ${error instanceof Error ? error.message : error}`);
    }
  };
  const note = ({ outcome }: Exchange): void => {
    const key = `raw ${outcome}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };

  await inLanes(allRows, async ({ name, bytes, expected }) => {
    // If the server must answer, wait for it however slow the machine is.
    const patience = expected.includes("closed") ? {} : { quietMs: answerMsMax };
    const answer = await exchange({ port: target.port, bytes, ...patience });
    note(answer);
    if (!expected.includes(answer.outcome)) {
      faults.push(
        `${name}: expected ${expected.join(" or ")}, got ${answer.outcome}: ${answer.text.slice(-200)}`,
      );
    }
  });
  await sing("the corpus");

  const random = seededRandom(seed);
  for (let done = 0; done < count; done += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, count - done) }, () =>
      mutated({ rows: allRows, random }),
    );
    await inLanes(batch, async (bytes) => {
      const answer = await exchange({ port: target.port, bytes, quietMs });
      note(answer);
      const wrong = faultOf(answer);
      if (wrong !== null) {
        const shown = Buffer.from(bytes).subarray(0, shownBytes).toString("latin1");
        faults.push(`seed ${seed}: ${wrong} to ${JSON.stringify(shown)}`);
      }
    });
    await sing(`${done + batch.length} damaged requests`);
    if (done % 2_000 === 0) log(`${done + batch.length} damaged requests, ${faults.length} faults`);
  }
  const figures = {
    rawRows: allRows.length,
    rawRequests: count,
    rawCanaryMsMax: Math.round(canaryMsMax),
    ...Object.fromEntries(counts),
  };
  return { figures, faults };
}

/** `null` = the answer is valid for some request. */
function faultOf({ outcome, text }: Exchange): string | null {
  if (outcome === "closed") return null;
  if (outcome === "hangs") return "neither answered nor closed";
  if (Number.isNaN(outcome)) return `answered ${JSON.stringify(text.slice(0, 60))}`;
  if (outcome === versionNotSupported || outcome === notImplemented) return null;
  return outcome >= 500 ? `answered ${outcome}` : null;
}

async function inLanes<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const rest = all.values();
  const lane = async (): Promise<void> => {
    for (const one of rest) await run(one);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
