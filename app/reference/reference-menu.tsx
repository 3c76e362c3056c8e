// The list of operations for the sidebar and the drawer.

import Slugger from "github-slugger";
import type { ReactNode } from "react";
import openapi from "../../openapi/openapi.json" with { type: "json" };
import { SectionMenu } from "../shell/section-menu.tsx";
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
  { label: "API", links: [{ to: "/api", label: "All operations" }] },
  ...groups.map(({ name, operations }) => ({
    label: name,
    links: operations.map((one) => ({ to: operationPath(one), label: one.summary })),
  })),
  { label: "In common", links: sections.map(([id, label]) => ({ to: `/api#${id}`, label })) },
];

export function ReferenceMenu(): ReactNode {
  return <SectionMenu groups={listed} current={usePathname()} />;
}
