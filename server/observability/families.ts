// Families of metrics, and their text in the Prometheus format.

import type { Metric } from "prom-client";
import type { Histogram } from "../../engine/model/histogram.ts";

type Labels = Readonly<Record<string, string | number>>;
export type Sample = readonly [labels: Labels, value: number | Histogram];

export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** `value`: a sample without labels, or all samples. */
type Build = (name: string, help: string, value: number | readonly Sample[]) => Family;

export const counter = builderOf("counter");
export const gauge = builderOf("gauge");
export const histogram = builderOf("histogram");

function builderOf(type: Family["type"]): Build {
  return (name, help, value) => {
    const samples = typeof value === "number" ? [[{}, value] as const] : value;
    return { name, type, help, samples };
  };
}

export async function metricsText(families: readonly Family[]): Promise<string> {
  // Imported at the first scrape: it takes megabytes, and a server may never be scraped.
  const { Registry } = await import("prom-client");
  const all = new Registry();
  for (const { name, type, help, samples } of families) {
    const values = samples.flatMap((sample) => lines(name, sample));
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
