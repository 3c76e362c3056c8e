// Copies the store into a folder, once the turn is committed.

import { failure } from "../errors.ts";
import { type Kind, undecided } from "./kind.ts";

export interface Backup {
  readonly kind: "backup";
  readonly folder: string;
}

const unwritable = failure(
  "store",
  "the backup could not be written; the stores themselves are as they were",
);

export const backup: Kind<Backup> = {
  phase: "beside",
  weight: () => 1,
  adds: false,
  lost: "again",
  decide: undecided,
  async errand({ upkeep }, { folder }) {
    const bytes = await upkeep.backup(folder);
    return bytes === null ? unwritable : { ok: true, value: { kind: "copied", bytes } };
  },
};
