// Brotli and gzip beside every text file, at their slowest and smallest; what has been
// compressed once is kept by its content, so the next build does only what is new.

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { folders, hashOf, listFiles, write, writeDraft } from "./site-folder.ts";

const isText = /\.(html|js|css|svg|json|xml|txt|md)$/;
/** A smaller file fits into one packet as it is. */
const bytesMin = 1_024;
const cacheAgeMsMax = 30 * 24 * 3_600_000;

const encodings = [
  {
    suffix: ".br",
    encode: (content: Buffer) =>
      promisify(brotliCompress)(content, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        },
      }),
  },
  { suffix: ".gz", encode: (content: Buffer) => promisify(gzip)(content, { level: 9 }) },
];

/** Returns how many files it compressed. */
export async function compressFiles(): Promise<number> {
  const files = listFiles(folders.draft).filter((file) => isText.test(file));
  const large = files.filter((file) => statSync(join(folders.draft, file)).size >= bytesMin);
  await Promise.all(large.map(compressFile));
  dropOld();
  return large.length;
}

async function compressFile(file: string): Promise<void> {
  const content = readFileSync(join(folders.draft, file));
  const hash = hashOf(content);
  for (const { suffix, encode } of encodings) {
    const cached = join(folders.cache, "compressed", hash + suffix);
    if (!existsSync(cached)) write(cached, await encode(content));
    writeDraft(file + suffix, readFileSync(cached));
  }
}

function dropOld(): void {
  const folder = join(folders.cache, "compressed");
  const oldest = Date.now() - cacheAgeMsMax;
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name);
    if (statSync(path).mtimeMs < oldest) rmSync(path);
  }
}
