// The router of a built page. The router's own start brings along what reads a server's
// data from a stream and what asks for routes at run time. Here pages are files, no
// route has a loader, and the manifest names every route: without that, a page asks
// for about 5 kB less.

import type { ContextType, ReactNode } from "react";
import {
  UNSAFE_createBrowserHistory,
  UNSAFE_createClientRoutes,
  UNSAFE_createRouter,
  UNSAFE_defaultMapRouteProperties,
  UNSAFE_FrameworkContext,
  UNSAFE_getHydrationData,
  UNSAFE_hydrationRouteProperties,
} from "react-router";
import { RouterProvider } from "react-router/dom";
import { keepStillPage } from "./still-page.ts";

type Framework = NonNullable<ContextType<typeof UNSAFE_FrameworkContext>>;

/** What the page's boot script leaves on the window. */
interface Started {
  readonly __reactRouterContext?: Framework;
  readonly __reactRouterManifest?: Framework["manifest"];
  readonly __reactRouterRouteModules?: Framework["routeModules"];
}

function start() {
  const {
    __reactRouterContext: context,
    __reactRouterManifest: manifest,
    __reactRouterRouteModules: routeModules,
  } = window as unknown as Started;
  if (context === undefined || manifest === undefined || routeModules === undefined) {
    throw new Error("the page has not been started by its boot script");
  }
  for (const [id, module] of Object.entries(routeModules)) {
    if (module !== undefined && module.default === undefined) {
      routeModules[id] = { ...module, handle: keepStillPage(id, module.handle) };
    }
  }
  const { ssr, isSpaMode, future, routeDiscovery } = context;
  const state = { loaderData: {}, actionData: null, errors: null };
  const routes = UNSAFE_createClientRoutes(manifest.routes, routeModules, state, ssr, isSpaMode);
  const router = UNSAFE_createRouter({
    routes,
    history: UNSAFE_createBrowserHistory(),
    hydrationData: UNSAFE_getHydrationData({
      state,
      routes,
      getRouteInfo: () => ({
        clientLoader: undefined,
        hasLoader: false,
        hasHydrateFallback: false,
      }),
      location,
      basename: "/",
      future,
      isSpaMode,
    }),
    mapRouteProperties: UNSAFE_defaultMapRouteProperties,
    hydrationRouteProperties: UNSAFE_hydrationRouteProperties,
  }).initialize();
  return { router, framework: { manifest, routeModules, future, ssr, isSpaMode, routeDiscovery } };
}

let started: ReturnType<typeof start> | null = null;

export function SiteRouter(): ReactNode {
  started ??= start();
  return (
    <UNSAFE_FrameworkContext value={started.framework}>
      <RouterProvider router={started.router} />
    </UNSAFE_FrameworkContext>
  );
}
