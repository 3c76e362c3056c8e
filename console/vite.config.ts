import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at("."),
  // Every address is relative to the file that names it: the console is whole below any prefix.
  base: "./",
  publicDir: false,
  build: {
    outDir: at("../build/console"),
    emptyOutDir: true,
    // Says what the pages have to name (`build/write-console.tsx`).
    manifest: true,
    target: "es2022",
    cssTarget: ["chrome123", "edge123", "firefox121", "safari17.5"],
    reportCompressedSize: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: at("./entry.tsx"),
      output: {
        codeSplitting: {
          groups: [
            { name: "react", test: /\/node_modules\/(react|react-dom|scheduler|react-router)\// },
          ],
        },
      },
    },
  },
});
