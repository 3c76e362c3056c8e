// Writes a change of the catalog, which the first shard's store keeps.

import type { CatalogChange } from "../../stores/catalog.ts";
import { failure } from "../errors.ts";
import { done, type Kind, undecided } from "./kind.ts";

export interface WriteCatalog extends CatalogChange {
  readonly kind: "catalog";
}

export const writeCatalog: Kind<WriteCatalog> = {
  phase: "beside",
  weight: () => 1,
  adds: false,
  lost: "again",
  decide: undecided,
  async errand({ catalog }, change) {
    if (await catalog.write(change)) return done;
    // One whose answer was lost comes again, and finds its own version.
    const { version } = await catalog.load();
    if (version === change.version) return done;
    const got = `expected version ${change.version - 1}, got ${version}`;
    return failure("store", `the catalog was changed by someone else; ${got}`);
  },
};
