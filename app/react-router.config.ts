import { fileURLToPath } from "node:url";
import type { Config } from "@react-router/dev/config";

export default {
  appDirectory: ".",
  // Outside the served folder; `after-build.ts` moves the finished pages to build/site.
  buildDirectory: fileURLToPath(new URL("../build/router", import.meta.url)),
  // Only the build requests pages. Without this it would also make a page for a client-side router,
  // which the site does not have.
  ssr: true,
  prerender({ getStaticPaths }) {
    const paths = new Set(getStaticPaths().filter((path) => !path.includes("*")));
    // The splat route renders it.
    paths.add("/404");
    return [...paths].sort();
  },
} satisfies Config;
