// The components of MDX pages: Markdown's own elements, and those that pages use by name.

import type { ComponentProps, ReactNode } from "react";
import * as bench from "./charts/bench-parts.tsx";
import * as admonitions from "./components/admonition.tsx";
import { CodeBlock } from "./components/code-block.tsx";
import { ConsolePicture } from "./components/console-picture.tsx";
import * as reference from "./components/reference-tables.tsx";
import { Table } from "./components/table.tsx";
import * as tabs from "./components/tabs.tsx";
import { Crossing } from "./diagrams/crossing.tsx";
import { GroupCommit } from "./diagrams/group-commit.tsx";
import { ItemStates } from "./diagrams/item-states.tsx";
import { PartitionMap } from "./diagrams/partition-map.tsx";
import { Turn } from "./diagrams/turn.tsx";
import { LeaseSimulator } from "./islands/lease-simulator.tsx";
import * as proof from "./proof/proof-views.tsx";
import { SiteLink } from "./shell/site-link.tsx";

function Anchor({ href = "", ...rest }: ComponentProps<"a">): ReactNode {
  return <SiteLink to={href} {...rest} />;
}

const components = {
  a: Anchor,
  table: Table,
  CodeBlock,
  ConsolePicture,
  ...{ Crossing, GroupCommit, ItemStates, PartitionMap, Turn, LeaseSimulator },
  ...{ ...admonitions, ...tabs, ...reference, ...bench, ...proof },
};

export function useMDXComponents(): typeof components {
  return components;
}
