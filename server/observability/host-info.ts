// Memory, disk and last backup of the whole server and its machine.

import { existsSync, readdirSync, statfsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { manifestName } from "../../engine/backup.ts";
import type { OverviewMachine } from "../../openapi/schemas.ts";
import manifest from "../../package.json" with { type: "json" };
import type { Config } from "../config/settings.ts";

const cachedMs = 10_000;

/** Cached, because each reading calls the file system. `now`: from an arbitrary start. */
export function serverHostInfo(
  { name, backups, store, data }: Pick<Config, "name" | "backups" | "store" | "data">,
  now: () => number = () => performance.now(),
): () => OverviewMachine {
  const started_at = new Date().toISOString();
  let readAt = Number.NEGATIVE_INFINITY;
  let machine: OverviewMachine;
  return () => {
    if (now() - readAt < cachedMs) return machine;
    readAt = now();
    machine = {
      ...{ name: name || hostname(), version: manifest.version, store, started_at },
      memory_bytes: process.memoryUsage.rss(),
      ...(store === "sqlite" ? diskOf(data) : noDisk),
      last_backup_at: backups === "" ? null : lastBackupIn(backups),
    };
    return machine;
  };
}

const noDisk = { disk_bytes: 0, disk_free_bytes: 0 };

function diskOf(folder: string): typeof noDisk {
  try {
    const { bsize, blocks, bavail } = statfsSync(folder);
    return { disk_bytes: bsize * blocks, disk_free_bytes: bsize * bavail };
  } catch {
    return noDisk;
  }
}

/** The instant of the last complete backup, taken from its name. */
function lastBackupIn(folder: string): string | null {
  const names = existsSync(folder) ? readdirSync(folder).sort().reverse() : [];
  for (const name of names) {
    const [, date, hours, minutes, seconds, ms] =
      /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z$/.exec(name) ?? [];
    if (date === undefined || !existsSync(join(folder, name, manifestName))) continue;
    return `${date}T${hours}:${minutes}:${seconds}.${ms}Z`;
  }
  return null;
}
