import type { ComponentType } from "react";
import type { RouteObject } from "react-router";
import { Frame } from "./frame/frame.tsx";
import { Crashed } from "./pages/crashed.tsx";
import { Titled } from "./pages/titled.tsx";

const of = async (page: Promise<ComponentType>) => ({ Component: await page });

/** Each page's code comes when it is looked at. */
export const routes: RouteObject[] = [
  {
    element: <Frame />,
    errorElement: <Crashed />,
    children: [
      {
        path: "/",
        lazy: () => of(import("./overview/overview-page.tsx").then((file) => file.OverviewPage)),
      },
      {
        path: "/queue",
        lazy: () => of(import("./queue/queue-page.tsx").then((file) => file.QueuePage)),
      },
      {
        path: "/items",
        lazy: () => of(import("./items/items-page.tsx").then((file) => file.ItemsPage)),
      },
      {
        path: "/dead",
        lazy: () => of(import("./dead/dead-page.tsx").then((file) => file.DeadPage)),
      },
      {
        path: "/shards",
        lazy: () => of(import("./shards/shards-page.tsx").then((file) => file.ShardsPage)),
      },
      {
        path: "/keys",
        lazy: () => of(import("./keys/keys-page.tsx").then((file) => file.KeysPage)),
      },
      { path: "*", element: <Titled title="Nothing is here" /> },
    ],
  },
];
