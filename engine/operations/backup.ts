// Backup: copies the store into a folder after the turn is committed.

import { unwritableBackup } from "../model/errors.ts";
import { type Kind, undecided } from "./kind.ts";

export interface Backup {
  readonly kind: "backup";
  readonly folder: string;
}

export const backup: Kind<Backup> = {
  phase: "beside",
  decide: undecided,
  async errand({ upkeep }, { folder }) {
    const bytes = await upkeep.backup(folder);
    return bytes === null ? unwritableBackup : { ok: true, value: { kind: "copied", bytes } };
  },
};
