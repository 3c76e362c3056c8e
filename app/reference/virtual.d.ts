declare module "virtual:api-reference" {
  /** At build time the API as HTML; in the browser, what stands in for it until it is fetched. */
  export const html: string;
  /** Where an operation is, by its id: the fragment of its address. */
  export const fragments: Readonly<Record<string, string>>;
}

declare module "virtual:api-reference.css";
