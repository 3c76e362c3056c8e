// Starts analytics, if configured, when the page is idle. Without configuration no other analytics
// code is loaded.

import type { AnalyticsConfig } from "../config/types.ts";

/** `config`: the configuration in the page. */
export function startAnalytics(config: string | undefined): void {
  if (config === undefined) return;
  const start = async () => {
    const { AnalyticsClient } = await import("./analytics-client.ts");
    new AnalyticsClient(JSON.parse(config) as AnalyticsConfig);
  };
  // Readers do not miss analytics that fail to load.
  const begin = () => void start().catch(() => undefined);
  if ("requestIdleCallback" in globalThis) requestIdleCallback(begin, { timeout: 2_000 });
  else setTimeout(begin, 1);
}
