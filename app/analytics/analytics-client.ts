// Sends readers' events to OpenPanel with its own client; loaded only if the site's configuration
// enables it. This file adds what that client lacks: plain names for a screen view's properties
// beside its own, and aliases, which it drops.

import { OpenPanel } from "@openpanel/web";
import type { AnalyticsConfig } from "../config/types.ts";

type Outcome = ReturnType<OpenPanel["send"]>;

export class AnalyticsClient extends OpenPanel {
  private pageShown = "";

  constructor({ clientId, apiUrl }: AnalyticsConfig) {
    super({
      clientId,
      apiUrl,
      trackScreenViews: true,
      trackOutgoingLinks: true,
      trackAttributes: true,
    });
  }

  /** A change of the hash is not a new page view. */
  override screenView(): void {
    const { href, hash } = location;
    const page = href.slice(0, href.length - hash.length);
    if (page === this.pageShown) return;
    this.pageShown = page;
    super.screenView({ path: href, title: document.title, referrer: document.referrer });
  }

  sendAlias(payload: { readonly profileId: string; readonly alias: string }): Outcome {
    return this.send({ type: "alias", payload });
  }
}
