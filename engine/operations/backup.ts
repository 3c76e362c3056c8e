// Backup: copies the store into a folder after the turn is committed.

import { unwritableBackup } from "../model/errors.ts";
import { type Operation, undecided } from "./operation.ts";

export interface Backup {
  readonly kind: "backup";
  readonly folder: string;
}

export const backup: Operation<Backup> = {
  phase: "beside",
  decide: undecided,
  async errand({ maintenance }, { folder }) {
    const bytes = await maintenance.backup(folder);
    return bytes === null ? unwritableBackup : { ok: true, value: { kind: "copied", bytes } };
  },
};
