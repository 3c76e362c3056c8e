import { fileURLToPath } from "node:url";
import type { Config } from "@react-router/dev/config";

export default {
  appDirectory: ".",
  // Beside what is served; `after-build.ts` moves the finished pages to build/site.
  buildDirectory: fileURLToPath(new URL("../build/router", import.meta.url)),
  // The build is the only one who asks for pages. Without this it would also make a page of its own,
  // for a router in the browser, which there is none of.
  ssr: true,
  prerender({ getStaticPaths }) {
    const paths = new Set(getStaticPaths().filter((path) => !path.includes("*")));
    // The splat route answers it.
    paths.add("/404");
    return [...paths].sort();
  },
} satisfies Config;
