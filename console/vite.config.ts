import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const sharedFiles = /\/console\/(?:api|state|components|format|addresses)(?!.*uplot)/;

export default defineConfig({
  root: at("."),
  // Every address is relative, so that the console works below any prefix.
  base: "./",
  publicDir: false,
  build: {
    outDir: at("../build/console"),
    emptyOutDir: true,
    // Lists the files that the pages link to (`build/write-console.tsx`).
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
            // One file compresses better than many small ones that every page needs.
            { name: "shared", test: sharedFiles, minShareCount: 2 },
          ],
        },
      },
    },
  },
});
