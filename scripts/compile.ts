// `bun run compile [--outfile FILE]`: makes one executable with Bun, the server, its shards and the
// built site. It builds the site first if it is missing.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { root, setUp } from "./setup.ts";

setUp("site");
const outfile = outfileOf(process.argv.slice(2));
const site = join(root, "build/site");
if (!existsSync(join(root, "build/site.json"))) {
  const build = Bun.spawn([process.execPath, join(root, "scripts/site.ts"), "build"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if ((await build.exited) !== 0) process.exit(1);
}
process.chdir(root);
const result = await Bun.build({
  entrypoints: [join(root, "deploy/executable.ts"), join(root, "server/shard.worker.ts")],
  // The workers must be beside the program, as they are beside `server/server.ts`.
  root: join(root, "server"),
  target: "bun",
  minify: { syntax: true, whitespace: true },
  compile: { outfile, assets: [site, `${site}.json`] },
});
if (!result.success) {
  console.error(result.logs.join("\n"));
  process.exit(1);
}
console.log(`${outfile}: ${(Bun.file(outfile).size / 1e6).toFixed(0)} MB`);

function outfileOf(words: readonly string[]): string {
  const [flag, file, ...rest] = words;
  if (flag === undefined) return join(root, "build/holdfast");
  if (flag === "--outfile" && file !== undefined && rest.length === 0) return resolve(file);
  console.error(
    `unexpected argument; expected --outfile FILE, got ${JSON.stringify(words.join(" "))}`,
  );
  process.exit(2);
}
