// A scratch folder for the peers' servers; an interrupted run stops them.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopChildren } from "../../testing/child-server.ts";

export async function withScratch<T>(use: (scratch: string) => Promise<T>): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), "holdfast-peers-"));
  // Servers that run as another user must reach their folder in it.
  chmodSync(scratch, 0o755);
  const end = async (): Promise<void> => {
    await stopChildren();
    rmSync(scratch, { recursive: true, force: true });
  };
  const interrupt = (): void => void end().finally(() => process.exit(130));
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  try {
    return await use(scratch);
  } finally {
    process.off("SIGINT", interrupt);
    process.off("SIGTERM", interrupt);
    await end();
  }
}
