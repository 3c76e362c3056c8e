// Compresses every text file with brotli and gzip at the highest level. Results of the last build
// are reused for unchanged files.

import { copyFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { folders, listFiles, writeDraft } from "./site-folder.ts";

const isText = /\.(html|js|css|svg|json|xml|txt|md)$/;
/** A smaller file fits into one packet uncompressed. */
const bytesMin = 1_024;

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

/** Returns the number of compressed files. */
export async function compressFiles(): Promise<number> {
  const files = listFiles(folders.draft).filter((file) => isText.test(file));
  const large = files.filter((file) => statSync(join(folders.draft, file)).size >= bytesMin);
  await Promise.all(large.map(compressFile));
  return large.length;
}

async function compressFile(file: string): Promise<void> {
  const content = readFileSync(join(folders.draft, file));
  const last = join(folders.site, file);
  const isSame = existsSync(last) && readFileSync(last).equals(content);
  for (const { suffix, encode } of encodings) {
    if (isSame && existsSync(last + suffix)) {
      copyFileSync(last + suffix, join(folders.draft, file + suffix));
    } else writeDraft(file + suffix, await encode(content));
  }
}
