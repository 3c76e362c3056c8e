// What there is to say of the machine and of the server as a whole.

import { existsSync, readdirSync, statfsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { manifestName } from "../../engine/backup.ts";
import type { OverviewMachine } from "../../openapi/schemas.ts";
import manifest from "../../package.json" with { type: "json" };
import type { Config } from "../config/config.ts";

export interface MachineOptions {
  /** `""` = that of the machine. */
  readonly name: string;
  readonly version: string;
  readonly store: string;
  /** Of the stores' files; `null` = they are not on this machine. */
  readonly folder: string | null;
  /** Of all backups; `""` = none are made. */
  readonly backups: string;
  /** Milliseconds from any start. */
  readonly now: () => number;
}

/** How long it is taken to be as it was. */
const lookMs = 10_000;

/** Of a server with these settings. */
export function serverMachine({ name, backups, store, data }: Config): () => OverviewMachine {
  const folder = store === "sqlite" ? data : null;
  const now = () => performance.now();
  return machineOf({ name, version: manifest.version, backups, store, folder, now });
}

/** Looks again only now and then: each time asks the file system. */
export function machineOf(options: MachineOptions): () => OverviewMachine {
  const { name, version, store, folder, backups, now } = options;
  const started_at = new Date().toISOString();
  let lookedAt = Number.NEGATIVE_INFINITY;
  let machine: OverviewMachine;
  return () => {
    if (now() - lookedAt < lookMs) return machine;
    lookedAt = now();
    machine = {
      ...{ name: name || hostname(), version, store, started_at },
      memory_bytes: process.memoryUsage.rss(),
      ...(folder === null ? noDisk : diskOf(folder)),
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

/** Of one that is whole: their names are their instants. */
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
