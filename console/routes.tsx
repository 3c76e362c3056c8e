import type { ComponentType } from "react";
import type { RouteObject } from "react-router";
import { Crashed, Titled } from "./components/frame/fallback-pages.tsx";
import { Frame } from "./components/frame/frame.tsx";
import { lazyPart } from "./components/lazy-part.tsx";

/** The former page stays until the code of the next is loaded, or cannot be. */
function page(path: string, name: string, codeOf: () => Promise<ComponentType>): RouteObject {
  const { Component, load } = lazyPart({ name, isPage: true }, codeOf);
  const lazy = async () => {
    await load();
    return { Component };
  };
  return { path, lazy };
}

const pages = [
  page("/", "Queues", () =>
    import("./pages/overview/overview-page.tsx").then((file) => file.OverviewPage),
  ),
  page("/queue", "The queue", () =>
    import("./pages/queue/queue-page.tsx").then((file) => file.QueuePage),
  ),
  page("/items", "Items", () =>
    import("./pages/items/items-page.tsx").then((file) => file.ItemsPage),
  ),
  page("/groups", "Groups", () =>
    import("./pages/groups/groups-page.tsx").then((file) => file.GroupsPage),
  ),
  page("/dead", "Dead items", () =>
    import("./pages/dead-letters/dead-page.tsx").then((file) => file.DeadPage),
  ),
  page("/shards", "Shards", () =>
    import("./pages/shards/shards-page.tsx").then((file) => file.ShardsPage),
  ),
  page("/keys", "Keys", () =>
    import("./pages/access/access-page.tsx").then((file) => file.AccessPage),
  ),
  { path: "*", element: <Titled title="Page not found" /> },
];

export const routes: RouteObject[] = [
  {
    element: <Frame />,
    errorElement: (
      <main className="page" id="main">
        <Crashed />
      </main>
    ),
    // A page that crashes leaves the frame and its links.
    children: [{ errorElement: <Crashed />, children: pages }],
  },
];
