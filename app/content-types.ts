// What the build knows of the content without its text; `facts/content.ts` carries it.

export interface DocData {
  readonly slug: string;
  readonly version: string;
  readonly title: string;
  /** Its name in the sidebar. */
  readonly label: string;
  readonly description: string;
  readonly position: number;
}

export interface PostData {
  /** Name in content/blog, without extension. */
  readonly file: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly authors: readonly string[];
  readonly tags: readonly string[];
  readonly readingMinutes: number;
}

export interface AuthorData {
  /** As in addresses. */
  readonly name: string;
  readonly title: string;
  readonly role: string;
  readonly description: string;
}

export interface TagData {
  readonly name: string;
  readonly label: string;
  readonly description: string;
}

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
