// Checks combinations of settings about databases and nodes.

import { isPublic } from "../http/connections/bind-rules.ts";
import { formatValue } from "./format-value.ts";
import type { Config } from "./settings.ts";

export function databaseFaults(config: Config): readonly string[] {
  const { store, databaseUrl, databasePooler, requireReplica, backups } = config;
  const faults: string[] = [];
  if (store !== "postgres") {
    const expected = `expected --store postgres, got ${formatValue(store)}`;
    if (requireReplica) faults.push(`--require-replica needs a database; ${expected}`);
    if (databasePooler !== "none") faults.push(`--database-pooler needs a database; ${expected}`);
    return faults;
  }
  if (databaseUrl.length === 0) {
    const expected = "expected --database-url, such as postgres://user:password@host/name";
    faults.push(
      `--store postgres needs a database; ${expected}; 'bun run postgres' starts one for trials`,
    );
  }
  if (backups !== "") {
    const expected = "expected pg_dump for backups of --store postgres";
    faults.push(`--backups does not apply to a database; ${expected}, got ${formatValue(backups)}`);
  }
  return [...faults, ...severalDatabasesFaults(config)];
}

function severalDatabasesFaults({ databaseUrl, nodeUrl }: Config): readonly string[] {
  const faults: string[] = [];
  if (databaseUrl.length > 1 && nodeUrl === "") {
    const expected = "expected --node-url, or one database";
    faults.push(
      `only a cluster has several databases; ${expected}, got ${databaseUrl.length} of --database-url`,
    );
  }
  const names = databaseUrl.map(databaseName);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) {
    const expected = "expected each database once";
    faults.push(`--database-url is invalid; ${expected}, got ${formatValue(duplicate)} again`);
  }
  return faults;
}

/** Returns the hosts and the database name of a URL, without user and password. */
export function databaseName(url: string): string {
  return /^postgres(?:ql)?:\/\/(?:[^/?]*@)?([^?]*)/.exec(url)?.[1] ?? "";
}

export function nodeFaults({ store, nodeUrl, testClock }: Config): readonly string[] {
  if (nodeUrl === "") return [];
  const got = `got ${formatValue(nodeUrl)}`;
  const faults: string[] = [];
  if (store !== "postgres") {
    faults.push(`--node-url needs a shared database; expected --store postgres, ${got}`);
  }
  if (testClock) {
    faults.push(`--test-clock does not work with several nodes; expected no --node-url, ${got}`);
  }
  const { hostname, protocol } = new URL(nodeUrl);
  if (protocol === "http:" && isPublic(hostname)) {
    const expected = "expected https, a private address or a name";
    faults.push(`--node-url is unencrypted on a public network; ${expected}, ${got}`);
  }
  return faults;
}
