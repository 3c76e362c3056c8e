// Checks the files of the certificate and its key regularly, so that a renewed certificate is
// served without a restart.

import { fileStamp } from "../../auth/key-file.ts";
import type { Log } from "../../observability/log.ts";
import { readTls, type Tls, type TlsFiles } from "./tls.ts";

/** Certificates are renewed weeks before they expire, so this is often enough. */
export const tlsCheckMs = 10_000;

export interface TlsWatchOptions {
  readonly files: TlsFiles;
  readonly readFile: (path: string) => string;
  readonly renew: (tls: Tls) => void;
  readonly log: Log;
}

/** Returns a check of the files; changed files that cannot be served are logged once. */
export function watchTls({ files, readFile, renew, log }: TlsWatchOptions): () => void {
  const stamps = () => `${fileStamp(files.tlsCert)} ${fileStamp(files.tlsKey)}`;
  let stamp = stamps();
  return () => {
    // Stamped before they are read: a change in between is noticed at the next check.
    const now = stamps();
    if (now === stamp) return;
    stamp = now;
    const read = readTls(files, readFile);
    if (!read.ok) {
      log.warn("failed to reload TLS files; keeping the current ones", { faults: read.faults });
      return;
    }
    if (read.tls === null) return;
    renew(read.tls);
    log.info("reloaded TLS files");
  };
}
