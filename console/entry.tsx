import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, RouterProvider } from "react-router";
import { basename } from "./place.ts";
import { queryClient } from "./queries.ts";
import { ready } from "./ready.ts";
import { routes } from "./routes.tsx";
import "./styles/index.css";

const root = document.getElementById("root");
if (root !== null) {
  const router = createBrowserRouter(routes, { basename });
  // Until the page's code is there, its skeleton stands.
  await ready(router);
  createRoot(root).render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
}
