// Writes a change of the catalog, which the first shard's store keeps.

import type { CatalogChange } from "../../stores/catalog.ts";
import { failure } from "../errors.ts";
import { done, type Kind, undecided } from "./kind.ts";

export interface WriteCatalog extends CatalogChange {
  readonly kind: "catalog";
}

export const writeCatalog: Kind<WriteCatalog> = {
  phase: "beside",
  isDone: ({ version }, { catalog }) => version <= catalog.version,
  decide: undecided,
  async errand({ catalog }, change) {
    if (await catalog.write(change)) return done;
    const { version } = await catalog.load();
    const got = `expected version ${change.version - 1}, got ${version}`;
    return failure("store_failed", `the catalog was changed by someone else; ${got}`);
  },
};
