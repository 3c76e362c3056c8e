// Makes a backup: a folder with copies of all stores at one moment, and a manifest that is written
// last. A folder without a manifest is not a backup.

import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { type BackupManifest, manifestName } from "../../engine/backup.ts";
import type { Engine } from "../../engine/model/api.ts";
import { failure, QueueError, unwritableBackup } from "../../engine/model/errors.ts";
import type { BackupReply } from "../../openapi/schemas.ts";
import { jsonResponse } from "../http/reply.ts";

export interface BackupOptions {
  readonly engine: Pick<Engine<string>, "backup">;
  /** Folder of all backups. */
  readonly folder: string;
  readonly version: string;
  readonly now: () => Date;
}

export async function backupResponse(options: BackupOptions): Promise<Response> {
  const { engine, folder, version, now } = options;
  const madeAt = now().toISOString();
  const name = madeAt.replaceAll(/[:.]/g, "-");
  const whole = join(resolve(folder), name);
  const part = `${whole}.part`;
  makeFolder(part);
  try {
    const copies = await engine.backup(part);
    const shards = copies.map(({ shard, bytes }) => ({ file: `shard-${shard}.db`, bytes }));
    const manifest: BackupManifest = { format: 1, made_at: madeAt, version, shards };
    writeManifest(part, manifest);
    renameSync(part, whole);
    const reply: BackupReply = { folder: whole, ...manifest, shards };
    return jsonResponse(JSON.stringify(reply));
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    throw error;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch {
    throw QueueError.from(
      failure("backup_failed", "the backup could not be written; its folder cannot be created"),
    );
  }
}

function writeManifest(folder: string, manifest: BackupManifest): void {
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  try {
    const file = openSync(join(folder, manifestName), "w", 0o600);
    try {
      // On a full disk, a write may be partial.
      if (writeSync(file, bytes) < bytes.length) throw new Error("a part was written");
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    throw QueueError.from(unwritableBackup);
  }
}
