// Whether the reader's connection may be used for what was not asked for.

export interface Connection {
  readonly saveData?: boolean;
  readonly effectiveType?: string;
}

/** Nothing is fetched ahead on 2g, or when the reader saves data. */
export function mayPrefetch(connection: Connection | undefined = current()): boolean {
  if (connection === undefined) return true;
  return connection.saveData !== true && !(connection.effectiveType ?? "").includes("2g");
}

function current(): Connection | undefined {
  if (typeof navigator === "undefined") return undefined;
  return (navigator as Navigator & { connection?: Connection }).connection;
}
