// One connection to PostgreSQL: prepared statements, and its errors in the words of the store.

import { Client, type QueryConfig } from "pg";
import { StoreError } from "../store.ts";
import { readBytea, readByteas, readInt8s } from "./arrays.ts";

/** The columns of a row: numbers, texts, booleans, bytes, arrays of numbers or of bytes. */
export type Row = readonly unknown[];

export type Value = string | number | Buffer | null;

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === "t",
  17: readBytea,
  20: Number,
  23: Number,
  25: (text) => text,
  1001: readByteas,
  1016: readInt8s,
};

const types = {
  getTypeParser: (type: number) => {
    const parser = parsers[type];
    if (parser === undefined) throw new Error(`a column of type ${type} is not read here`);
    return parser;
  },
};

/** Settings of a session; a commit is answered when it is on the disk. */
const options =
  "-c synchronous_commit=on -c plan_cache_mode=force_generic_plan -c jit=off -c client_min_messages=warning";

export class Connection {
  readonly #client: Client;
  readonly #names = new Map<string, string>();
  #lost: unknown = null;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Throws `StoreError`: `unusable` where nothing can be reached. */
  static async open(url: string): Promise<Connection> {
    const client = new Client({
      connectionString: url,
      application_name: "holdfast",
      options,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      pipeline: true,
    } as ConstructorParameters<typeof Client>[0]);
    const connection = new Connection(client);
    client.on("error", (cause) => {
      connection.#lost = cause;
    });
    try {
      await client.connect();
    } catch (cause) {
      throw new StoreError("unusable", "the database cannot be reached", cause);
    }
    return connection;
  }

  /** One statement, prepared when it comes for the first time. */
  async rows(text: string, values: readonly Value[] = []): Promise<Row[]> {
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `s${this.#names.size}`;
      this.#names.set(text, name);
    }
    return this.#query({ name, text, values: [...values], types } as QueryConfig);
  }

  /** Several statements, none of them prepared. */
  async script(text: string): Promise<void> {
    await this.#query({ text });
  }

  async #query(query: QueryConfig): Promise<Row[]> {
    if (this.#lost !== null) throw new StoreError("failed", "the database is gone", this.#lost);
    try {
      const { rows } = await this.#client.query({ ...query, rowMode: "array" });
      return rows;
    } catch (cause) {
      throw storeError(cause);
    }
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }
}

const diskFull = "53100";

function storeError(cause: unknown): StoreError {
  const isFull = cause instanceof Error && "code" in cause && cause.code === diskFull;
  if (isFull) return new StoreError("full", "the database has no room", cause);
  return new StoreError("failed", "the database failed", cause);
}
