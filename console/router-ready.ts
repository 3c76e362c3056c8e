import type { createBrowserRouter } from "react-router";

type Router = Pick<ReturnType<typeof createBrowserRouter>, "state" | "subscribe">;

/** Resolves once the router has the code of its first page. */
export function ready(router: Router): Promise<void> {
  if (router.state.initialized) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = router.subscribe(({ initialized }) => {
      if (!initialized) return;
      stop();
      resolve();
    });
  });
}
