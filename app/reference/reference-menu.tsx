// The list of operations, for the sidebar and for the drawer.

import Slugger from "github-slugger";
import type { ReactNode } from "react";
import openapi from "../../openapi/openapi.json" with { type: "json" };
import { SiteLink } from "../shell/site-link.tsx";
import { usePathname } from "../shell/use-pathname.ts";
import { groups, operationPath } from "./operations.ts";

export const appendix = [
  ["common-replies", "Replies of all operations"],
  ["schemas", "Schemas"],
  ["forms", "Forms of text"],
] as const;

const slugger = new Slugger();
const sections = [
  ...[...openapi.info.description.matchAll(/^## (.+)$/gm)].map(
    ([, title = ""]) => [slugger.slug(title), title] as const,
  ),
  ...appendix,
];

const listed = [
  { name: "API", links: [["/api", "All operations"]] },
  ...groups.map(({ name, operations }) => ({
    name,
    links: operations.map((operation) => [operationPath(operation), operation.summary]),
  })),
  { name: "In common", links: sections.map(([id, title]) => [`/api#${id}`, title]) },
];

export function ReferenceMenu(): ReactNode {
  const pathname = usePathname();
  return listed.map(({ name, links }) => (
    <section key={name} className="menu-group">
      <h2>{name}</h2>
      <ul className="menu">
        {links.map(([to = "", label]) => (
          <li key={to}>
            <SiteLink to={to} aria-current={to === pathname ? "page" : undefined}>
              {label}
            </SiteLink>
          </li>
        ))}
      </ul>
    </section>
  ));
}
