// Families of metrics, and their text in the Prometheus format.

import type { Metric } from "prom-client";
import type { Histogram } from "../../engine/model/api.ts";

type Labels = Readonly<Record<string, string | number>>;
export type Sample = readonly [labels: Labels, value: number | Histogram];
type Head = [name: string, type: "counter" | "gauge" | "histogram", help: string];
export type Family = readonly [...head: Head, figures: readonly Sample[]];

/** A family of one value without labels. */
export type Single = readonly [...head: Head, value: number];

export function single([name, type, help, value]: Single): Family {
  return [name, type, help, [[{}, value]]];
}

export async function textOf(families: readonly Family[]): Promise<string> {
  // Imported at the first scrape: it takes megabytes, and a server may never be scraped.
  const { Registry } = await import("prom-client");
  const all = new Registry();
  for (const [name, type, help, figures] of families) {
    const values = figures.flatMap((figure) => lines(name, figure));
    // `prom-client` needs only these fields; its own histograms do not accept counts from
    // elsewhere.
    const metric = { name, type, help, get: async () => ({ name, type, help, values }) };
    all.registerMetric(metric as unknown as Metric);
  }
  return all.metrics();
}

/** Buckets of Prometheus are cumulative. */
function lines(name: string, [labels, value]: Sample) {
  if (typeof value === "number") return [{ labels, value }];
  const { bounds, counts, sum } = value;
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    const le = bounds[index] ?? "+Inf";
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
