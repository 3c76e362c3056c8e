import { fileURLToPath } from "node:url";
import mdx from "@mdx-js/rollup";
import { reactRouter } from "@react-router/dev/vite";
import { defineConfig, type Plugin } from "vite";
import { factsPlugin } from "./build/facts-plugin.ts";
import { mdxOptions } from "./build/mdx-options.ts";
import { searchPlugin } from "./build/search-plugin.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const pageCode =
  /\/app\/(entry\.client|behaviours\/|config\/constants|islands\/start-islands|search\/open-search|analytics\/start-analytics)/;

/** A page loads one file of code; React is separate, because islands share it. */
const codeSplitting = {
  groups: [
    // Code that renders pages at build time is not for the browser.
    {
      name: "react",
      test: /\/node_modules\/(react|react-dom|scheduler)\/(?!.*server)/,
      priority: 2,
    },
    { name: "page", test: pageCode, priority: 1 },
    { name: "simulator", test: /\/app\/simulator\// },
  ],
};

export default defineConfig({
  plugins: [
    factsPlugin(),
    searchPlugin(),
    { enforce: "pre", ...mdx(mdxOptions()) },
    reactRouter(),
    reloadPlugin(),
  ],
  // OpenPanel's client can record sessions; the site never does, and does not ship the recorder,
  // which is many times the client's size.
  resolve: { alias: { rrweb: "data:text/javascript,export const record = undefined" } },
  // Vue, within Scalar, requires its feature flags at build time.
  define: {
    __VUE_OPTIONS_API__: "true",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
  // Includes the addresses in `site-config.ts`.
  envPrefix: ["VITE_", "SITE_"],
  server: { fs: { allow: [at("..")] } },
  build: {
    // The manifest lists the files reachable from a page (`build/unused-assets.ts`).
    manifest: true,
    target: "es2022",
    // Browsers with nested rules and `light-dark()`, so neither is transpiled.
    cssTarget: ["chrome123", "edge123", "firefox121", "safari17.5"],
    chunkSizeWarningLimit: 1_500,
    reportCompressedSize: false,
    // A font as a data URL would be part of every page.
    assetsInlineLimit: 0,
  },
  environments: {
    client: { build: { rolldownOptions: { output: { codeSplitting } } } },
    // Minifies functions whose source is inlined in pages.
    ssr: { build: { minify: true } },
  },
});

/** In development, reloads a page when one of its sources changes. */
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
