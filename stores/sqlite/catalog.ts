// The catalog, in the file of a shard and with commits of its own.

import type { Database } from "bun:sqlite";
import type { CatalogChange, CatalogImage, CatalogStore } from "../catalog.ts";
import { guard } from "./connect.ts";
import { catalogOf, catalogValues, versionOf, versionValues } from "./rows.ts";
import type { SqliteUpkeep } from "./upkeep.ts";

export class SqliteCatalog implements CatalogStore {
  readonly #database: Database;
  readonly #upkeep: SqliteUpkeep;

  constructor(database: Database, upkeep: SqliteUpkeep) {
    this.#database = database;
    this.#upkeep = upkeep;
  }

  async load(): Promise<CatalogImage> {
    return guard(() => ({
      version: this.#version(),
      entries: this.#database
        .query("SELECT entry, check_sum FROM queue ORDER BY queue_id")
        .values()
        .map(catalogOf),
    }));
  }

  #version(): number {
    return versionOf(this.#database.query("SELECT version, check_sum FROM catalog").values()[0]);
  }

  async write({ version, put, remove }: CatalogChange): Promise<boolean> {
    if (guard(() => this.#version()) !== version - 1) return false;
    const { synced } = await this.#upkeep.commit(() => {
      for (const entry of put) {
        const values = catalogValues(entry);
        this.#database.run("INSERT OR REPLACE INTO queue VALUES (?, ?, ?)", values);
      }
      for (const queueId of remove) {
        this.#database.run("DELETE FROM queue WHERE queue_id = ?", [queueId]);
      }
      const values = versionValues(version);
      this.#database.run("INSERT OR REPLACE INTO catalog VALUES (1, ?, ?)", values);
    });
    await synced;
    return true;
  }
}
