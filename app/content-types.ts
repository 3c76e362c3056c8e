// Exports of MDX pages for the layouts around them.

export interface TocEntry {
  readonly depth: number;
  readonly id: string;
  readonly text: string;
}

/** The `handle` export of every MDX page. */
export interface PageHandle {
  readonly toc: readonly TocEntry[];
  /** Path below the repository's root. */
  readonly source: string;
  /** `YYYY-MM-DD` of the last commit; `null` = unknown. */
  readonly updated: string | null;
  readonly frontmatter: {
    readonly title: string;
    readonly description: string;
    readonly slug?: string;
  };
}
