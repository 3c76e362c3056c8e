// Runs all hostile tests: generated bodies against the app without a socket, then the corpus, its
// damaged variants and misbehaving clients against a server.

import { tryBodies } from "./bodies/bodies.ts";
import {
  tryCrowd,
  tryHalfClosed,
  trySlow,
  trySlowReaders,
  tryStalledUploads,
} from "./connections.ts";
import { tryEffects } from "./effects.ts";
import { tryRaw } from "./raw/raw.ts";
import { tryStalls } from "./stalls.ts";
import { openTarget } from "./target.ts";

export interface HostileOptions {
  /** Generated bodies. */
  readonly bodies: number;
  /** Damaged requests over sockets, in addition to the corpus. */
  readonly rawRequests: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

export interface HostileReport {
  readonly figures: Record<string, number>;
  /** Each with its seed or bytes, to reproduce it. */
  readonly faults: string[];
}

export async function hostile(options: HostileOptions): Promise<HostileReport> {
  const { bodies, rawRequests, seed, log } = options;
  const generated = await tryBodies({ count: bodies, seed, log });
  await using target = await openTarget();
  // Permanent allocations must happen before the baseline is taken.
  for (let round = 0; round < 20; round += 1) await target.canary();
  const baseline = await target.holdings();
  // Slow clients take long, so they run beside all other tests.
  const [slow, others] = await Promise.all([
    trySlow(target),
    (async () => {
      const reports = [];
      reports.push(await tryRaw({ target, count: rawRequests, seed, log }));
      // One after the other, because all read the same counts.
      for (const run of [
        tryEffects,
        tryStalls,
        tryStalledUploads,
        tryHalfClosed,
        trySlowReaders,
        tryCrowd,
      ]) {
        reports.push(await run(target));
      }
      return reports;
    })(),
  ]);
  const kept = await target.settled(baseline);
  const after = await target.holdings();
  const reports = [generated, slow, ...others];
  return {
    figures: {
      ...Object.assign({}, ...reports.map(({ figures }) => figures)),
      memoryGrowthBytes: after.memoryBytes - baseline.memoryBytes,
      descriptorsBefore: baseline.descriptors,
      descriptorsAfter: after.descriptors,
    },
    faults: [
      ...reports.flatMap(({ faults }) => faults),
      ...kept.map((what) => `at rest: ${what}`),
      ...target
        .log()
        .split("\n")
        .filter((line) => /"level":"(error|fatal)"/.test(line))
        .map((line) => `log: ${line}`),
    ],
  };
}
