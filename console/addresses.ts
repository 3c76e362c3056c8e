// The addresses of the pages. Names are in the query: a queue may be called `..` or `a/b`.

export const pages = [
  { id: "queues", path: "/", title: "Queues" },
  { id: "dead", path: "/dead", title: "Dead" },
  { id: "shards", path: "/shards", title: "Shards" },
  { id: "keys", path: "/keys", title: "Keys" },
] as const;

/** The HTML files of the console, below `/console`. */
export const pagePaths = ["", "/queue", "/items", "/groups", "/dead", "/shards", "/keys"] as const;

type Query = Readonly<Record<string, string | readonly string[]>>;

function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, value]),
  );
  return `${path}?${new URLSearchParams(pairs)}`;
}

export const queueAddress = (name: string) => withQuery("/queue", { name });
export const itemAddress = (item: string) => withQuery("/items", { item });
export const deadAddress = (name: string) => withQuery("/dead", { name });
export const itemsAddress = (name: string, query: Query = {}) =>
  withQuery("/items", { name, ...query });
export const groupsAddress = (name: string, query: Query = {}) =>
  withQuery("/groups", { name, ...query });
export const keysAddress = (query: Query) => withQuery("/keys", query);
