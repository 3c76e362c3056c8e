// The session settings that the store depends on, whatever the defaults of the database and its
// role. Behind a pooler, whose sessions are shared, they are checked and not set.

import { StoreError } from "../store.ts";

interface Setting {
  readonly name: string;
  readonly value: string;
  /** Other values that are accepted. */
  readonly also?: readonly string[];
  /** Not checked behind a pooler: another value is only slower, or is the pooler's concern. */
  readonly isOptional?: true;
}

const settings: readonly Setting[] = [
  // A commit is answered once it is on disk.
  { name: "synchronous_commit", value: "on", also: ["remote_apply"] },
  // A warning reports that a commit was not replicated.
  {
    name: "client_min_messages",
    value: "warning",
    also: ["notice", "log", "debug1", "debug2", "debug3", "debug4", "debug5"],
  },
  { name: "bytea_output", value: "hex" },
  { name: "default_transaction_read_only", value: "off" },
  { name: "statement_timeout", value: "0" },
  { name: "lock_timeout", value: "0" },
  // Not in every version of PostgreSQL.
  { name: "transaction_timeout", value: "0" },
  // Statements are retried after some errors, so an error must not end the session.
  { name: "exit_on_error", value: "off" },
  { name: "idle_session_timeout", value: "0", isOptional: true },
  { name: "idle_in_transaction_session_timeout", value: "0", isOptional: true },
  { name: "default_transaction_isolation", value: "read committed", isOptional: true },
  { name: "plan_cache_mode", value: "force_generic_plan", isOptional: true },
  { name: "jit", value: "off", isOptional: true },
];
const encoding: Setting = { name: "server_encoding", value: "UTF8" };

/** Selects settings that exist in the database's version and have another value. */
function differing(what: string, of: readonly Setting[]): string {
  const quoted = (text: string): string => `'${text}'`;
  const rows = of.map(({ name, value, also = [] }) => {
    const left = [value, ...also].map(quoted).join(", ");
    return `(${quoted(name)}, ${quoted(value)}, ARRAY[${left}])`;
  });
  return `
    SELECT ${what} FROM (VALUES ${rows.join(", ")}) AS wanted(name, value, fit)
    WHERE NOT current_setting(name, true) = ANY (fit)`;
}

export const setSession = differing("set_config(name, value, false)", settings);

/** Finds settings that are still wrong. */
export const wrongSettings = differing("name, value, current_setting(name)", [
  ...settings.filter(({ isOptional }) => !isOptional),
  encoding,
]);

/** `row`: the first wrong setting, if any. */
export function refuseWrong(row: readonly unknown[] | undefined): void {
  if (row === undefined) return;
  const [name, value, got] = row as [string, string, string];
  const of = name === encoding.name ? "database" : "database role";
  const expected = `expected '${value}', got '${got}'`;
  throw new StoreError("unusable", `${name} of the ${of} is unusable; ${expected}`);
}
