// Starts analytics where they are configured, when the page has nothing better to do.
// Where they are not, this is all there is of them.

import type { AnalyticsConfig } from "../config/types.ts";

/** The configuration as the page carries it. */
export function startAnalytics(config: string | undefined): void {
  if (config === undefined) return;
  const start = async () => {
    const { AnalyticsClient } = await import("./analytics-client.ts");
    new AnalyticsClient(JSON.parse(config) as AnalyticsConfig);
  };
  // What cannot be loaded is not missed by the reader.
  const begin = () => void start().catch(() => undefined);
  if ("requestIdleCallback" in globalThis) requestIdleCallback(begin, { timeout: 2_000 });
  else setTimeout(begin, 1);
}
