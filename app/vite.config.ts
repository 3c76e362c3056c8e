import { fileURLToPath } from "node:url";
import mdx from "@mdx-js/rollup";
import { reactRouter } from "@react-router/dev/vite";
import { defineConfig, type Plugin } from "vite";
import { noReplayPlugin } from "./analytics/no-replay-plugin.ts";
import { clientChunks } from "./build/chunks.ts";
import { contentPlugin } from "./build/content-plugin.ts";
import { mdxOptions } from "./build/mdx-options.ts";
import { referenceModule } from "./build/reference-rows.ts";
import { searchPlugin } from "./build/search-plugin.ts";
import { virtualModule } from "./build/virtual-module.ts";
import { benchModule } from "./charts/bench-results.ts";
import { proofModule } from "./proof/proof-data.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

export default defineConfig({
  plugins: [
    contentPlugin(),
    virtualModule("virtual:reference", referenceModule),
    searchPlugin(),
    virtualModule("virtual:bench", benchModule),
    virtualModule("virtual:proof", proofModule),
    noReplayPlugin(),
    { enforce: "pre", ...mdx(mdxOptions()) },
    reactRouter(),
    reloadPlugin(),
  ],
  // Vue, within Scalar, asks at build time what of it is used.
  define: {
    __VUE_OPTIONS_API__: "true",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
  // The addresses of `site-config.ts`.
  envPrefix: ["VITE_", "SITE_"],
  server: { fs: { allow: [root] } },
  build: {
    // Says which files a page leads to (`build/unused-assets.ts`).
    manifest: true,
    target: "es2022",
    // Browsers that know nested rules and both colour schemes: neither is written out for others.
    cssTarget: ["chrome123", "edge123", "firefox121", "safari17.5"],
    chunkSizeWarningLimit: 1_500,
    reportCompressedSize: false,
    // A font as a data URL would be sent with every page.
    assetsInlineLimit: 0,
  },
  environments: {
    client: { build: { rolldownOptions: clientChunks } },
    // A function that stands in a page as its source.
    ssr: { build: { minify: true } },
  },
});

/** In development a page is asked for anew when something changes of which it is rendered. */
function reloadPlugin(): Plugin {
  return {
    name: "holdfast-reload",
    apply: "serve",
    hotUpdate({ server, modules }) {
      if (this.environment.name === "ssr" && modules.length > 0) {
        server.hot.send({ type: "full-reload" });
      }
    },
  };
}
