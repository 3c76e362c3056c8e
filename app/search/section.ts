// What is searched: one entry for each section of each page. Shared by the build, the
// page and tests.

export interface Section {
  readonly url: string;
  /** Title of the page. */
  readonly page: string;
  /** Of the section; the page's title for what comes before the first. */
  readonly heading: string;
  readonly text: string;
}
