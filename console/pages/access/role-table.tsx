import type { ReactNode } from "react";
import type { Role } from "../../../openapi/roles.ts";
import { StateGlyph } from "../../components/glyph.tsx";

const roles: readonly Role[] = ["produce", "consume", "read", "admin"];

interface Right {
  readonly calls: string;
  readonly role: Role;
}

const rights: readonly Right[] = [
  { calls: "produce, transact", role: "produce" },
  { calls: "lease, complete, retry, extend, release", role: "consume" },
  { calls: "list, stats, explain, series, overview", role: "read" },
  { calls: "find and read items, with their payloads", role: "read" },
  { calls: "create, update, pause, clear, redrive, delete", role: "admin" },
  { calls: "keys, import, delete items, backup", role: "admin" },
];

export function RoleTable(): ReactNode {
  return (
    <section className="sec" aria-labelledby="roles">
      <div className="ph">
        <h2 id="roles">what each role may call</h2>
      </div>
      <table className="mini wrap" aria-label="Roles">
        <thead>
          <tr>
            <th scope="col">call</th>
            {roles.map((role) => (
              <th scope="col" key={role}>
                {role}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rights.map(({ calls, role }) => (
            <tr key={calls}>
              <th scope="row">{calls}</th>
              {roles.map((each) => {
                const may = each === role || each === "admin";
                return (
                  <td key={each} className={may ? undefined : "muted"}>
                    <StateGlyph name={may ? "done" : "ready"} label={may ? "yes" : "no"} />
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
