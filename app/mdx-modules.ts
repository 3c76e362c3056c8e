// Where the components are that an MDX page may name. `mdx-components.tsx` has those
// that every page needs; these are imported by the pages that use them.

export const mdxModules: Readonly<Record<string, string>> = {
  Tabs: "components/tabs.tsx",
  Tab: "components/tabs.tsx",
  Note: "components/admonition.tsx",
  Tip: "components/admonition.tsx",
  Warning: "components/admonition.tsx",
  ConfigTable: "components/reference-tables.tsx",
  LimitsTable: "components/reference-tables.tsx",
  CodesTable: "components/reference-tables.tsx",
  ReasonsTable: "components/reference-tables.tsx",
  ItemStates: "diagrams/item-states.tsx",
  PartitionMap: "diagrams/partition-map.tsx",
  Turn: "diagrams/turn.tsx",
  GroupCommit: "diagrams/group-commit.tsx",
  Crossing: "diagrams/crossing.tsx",
  LeaseSimulator: "islands/lease-simulator.tsx",
  BenchChart: "charts/bench-chart.tsx",
  BenchFigure: "charts/bench-figure.tsx",
  BenchTable: "charts/bench-table.tsx",
  ProofSummary: "proof/proof-blocks.tsx",
  ProofMethod: "proof/proof-blocks.tsx",
  PlantedBugs: "proof/proof-blocks.tsx",
  FaultsFound: "proof/proof-blocks.tsx",
  Comparison: "home/comparison.tsx",
};
