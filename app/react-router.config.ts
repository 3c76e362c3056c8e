import { fileURLToPath } from "node:url";
import type { Config } from "@react-router/dev/config";

export default {
  appDirectory: ".",
  // Beside what is served; `after-build.ts` moves the finished pages to build/site.
  buildDirectory: fileURLToPath(new URL("../build/router", import.meta.url)),
  ssr: false,
  prerender({ getStaticPaths }) {
    const paths = new Set(getStaticPaths().filter((path) => !path.includes("*")));
    // The splat route answers it, so that the same page hydrates at any unknown address.
    paths.add("/404");
    return [...paths].sort();
  },
} satisfies Config;
