// What MDX pages export for the layouts around them.

export interface TocEntry {
  readonly depth: number;
  readonly id: string;
  readonly text: string;
}

/** What every MDX page exports as `handle`, for the layouts around it. */
export interface PageHandle {
  readonly toc: readonly TocEntry[];
  /** Path below the repository's root. */
  readonly source: string;
  /** `YYYY-MM-DD` of the last commit; `null` = not known. */
  readonly updated: string | null;
  readonly frontmatter: {
    readonly title: string;
    readonly description: string;
    readonly slug?: string;
  };
}
