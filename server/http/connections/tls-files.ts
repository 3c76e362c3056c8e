// The certificate and its key as they are now: looked at again and again, so that a
// renewed one is served without a restart.

import { stampOf } from "../../auth/key-file.ts";
import type { Log } from "../../observability/log.ts";
import { readTls, type Tls, type TlsFiles } from "./tls.ts";

/** Renewed files are weeks ahead of their time. */
export const tlsLookMs = 10_000;

export interface TlsWatchOptions {
  readonly files: TlsFiles;
  readonly readFile: (path: string) => string;
  readonly renew: (tls: Tls) => void;
  readonly log: Log;
}

/** Returns a check of the files; changed files that cannot be served are logged once. */
export function watchTls({ files, readFile, renew, log }: TlsWatchOptions): () => void {
  const stamps = () => `${stampOf(files.tlsCert)} ${stampOf(files.tlsKey)}`;
  let stamp = stamps();
  return () => {
    // Taken before they are read: what changes meanwhile is seen at the next look.
    const now = stamps();
    if (now === stamp) return;
    stamp = now;
    const read = readTls(files, readFile);
    if (!read.ok) {
      log.warn("TLS files could not be read again; the former ones stay", { faults: read.faults });
      return;
    }
    if (read.tls === null) return;
    renew(read.tls);
    log.info("TLS files were read again");
  };
}
