// The settings of a session that the store depends on, whatever those of the database and its role
// are. Behind a pooler, whose sessions are not ours to set, they are checked.

import { StoreError } from "../store.ts";

interface Setting {
  readonly name: string;
  readonly value: string;
  /** Values that are left as they are. */
  readonly also?: readonly string[];
  /** Behind a pooler any other value makes the store slower, or is the pooler's concern. */
  readonly isOptional?: true;
}

const settings: readonly Setting[] = [
  // A commit is answered when it is on the disk.
  { name: "synchronous_commit", value: "on", also: ["remote_apply"] },
  // A warning says that a commit was not replicated.
  {
    name: "client_min_messages",
    value: "warning",
    also: ["notice", "log", "debug1", "debug2", "debug3", "debug4", "debug5"],
  },
  { name: "bytea_output", value: "hex" },
  { name: "default_transaction_read_only", value: "off" },
  { name: "statement_timeout", value: "0" },
  { name: "lock_timeout", value: "0" },
  // Not in every version.
  { name: "transaction_timeout", value: "0" },
  // An error that is repeated must not end the session.
  { name: "exit_on_error", value: "off" },
  { name: "idle_session_timeout", value: "0", isOptional: true },
  { name: "idle_in_transaction_session_timeout", value: "0", isOptional: true },
  { name: "default_transaction_isolation", value: "read committed", isOptional: true },
  { name: "plan_cache_mode", value: "force_generic_plan", isOptional: true },
  { name: "jit", value: "off", isOptional: true },
];
const encoding: Setting = { name: "server_encoding", value: "UTF8" };

/** Those that the version of the database has, and that differ. */
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

/** Sets what can be set. */
export const setSession = differing("set_config(name, value, false)", settings);

/** Finds those that are wrong nevertheless. */
export const wrongSettings = differing("name, value, current_setting(name)", [
  ...settings.filter(({ isOptional }) => !isOptional),
  encoding,
]);

/** `row` = the first that is wrong, if there is one. */
export function refuseWrong(row: readonly unknown[] | undefined): void {
  if (row === undefined) return;
  const [name, value, got] = row as [string, string, string];
  const of = name === encoding.name ? "database" : "database role";
  const expected = `expected '${value}', got '${got}'`;
  throw new StoreError("unusable", `${name} of the ${of} is unusable; ${expected}`);
}
