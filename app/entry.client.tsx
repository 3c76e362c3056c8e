import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { startAnalytics } from "./analytics/start-analytics.ts";
import { startSearch } from "./search/open-search.ts";
import { SiteRouter } from "./shell/site-router.tsx";
import { siteConfig } from "./site-config.ts";

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>{import.meta.env.DEV ? <HydratedRouter /> : <SiteRouter />}</StrictMode>,
  );
});

startSearch();
startAnalytics(siteConfig.analytics);
