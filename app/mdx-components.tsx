// What MDX pages are written with: Markdown's own elements, and the components that they name.

import type { ComponentProps, ReactNode } from "react";
import * as charts from "./charts/bench-chart.tsx";
import * as figures from "./charts/bench-figure.tsx";
import * as goals from "./charts/bench-table.tsx";
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
import * as proof from "./proof/proof-blocks.tsx";
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
  ...{ ...admonitions, ...tabs, ...reference, ...charts, ...figures, ...goals, ...proof },
};

export function useMDXComponents(): typeof components {
  return components;
}
