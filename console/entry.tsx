import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { createBrowserRouter, RouterProvider } from "react-router";
import { basename } from "./api/base-path.ts";
import { queryClient } from "./api/query-client.ts";
import { ready } from "./router-ready.ts";
import { routes } from "./routes.tsx";
import "./styles/index.css";

const root = document.getElementById("root");
if (root !== null) {
  const router = createBrowserRouter(routes, { basename });
  // The skeleton stays until the page's code is loaded.
  await ready(router);
  createRoot(root).render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
}
