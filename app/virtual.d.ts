declare module "virtual:content" {
  type Content = import("./content-types.ts").Content;
  export const docs: Content["docs"];
  export const posts: Content["posts"];
  export const authors: Content["authors"];
  export const tags: Content["tags"];
}

declare module "virtual:reference" {
  type Rows = typeof import("./build/reference-rows.ts").referenceRows;
  export const settings: Rows["settings"];
  export const limits: Rows["limits"];
  export const codes: Rows["codes"];
  export const reasons: Rows["reasons"];
  export const commands: typeof import("./build/command-rows.ts").commands;
  export const sharedFlags: typeof import("./build/command-rows.ts").sharedFlags;
}

declare module "virtual:bench" {
  export const charts: Readonly<
    Record<import("./charts/groups.ts").Group, import("./charts/groups.ts").Chart | null>
  >;
  export const figures: Readonly<Record<string, import("./charts/figures.ts").Shown>>;
  export const ratios: Readonly<Record<number, import("./charts/figures.ts").Shown>>;
  export const settings: readonly string[];
  export const judged: readonly import("./charts/goals.ts").Judged[];
}

declare module "virtual:proof" {
  type Faults = typeof import("../proof/faults.json");
  /** `null` until there is a report. */
  export const proof: import("./proof/proof-data.ts").ProofData | null;
  export const faults: Faults;
}
