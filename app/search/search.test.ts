import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import lists from "../../content/search-queries.json" with { type: "json" };
import { ensureBuilt } from "../build/ensure-built.ts";
import { sourceSections } from "../build/search-plugin.ts";
import { folders } from "../build/site-folder.ts";
import { createSearch, excerptOf, partsOf, type Search, type Section } from "./engine.ts";
import { type Recent, withRecent } from "./recents.ts";

/** `/path*` matches any section of a page. */
function isAmong(url: string, expected: readonly string[]): boolean {
  return expected.some((one) =>
    one.endsWith("*") ? url.startsWith(one.slice(0, -1)) : url === one,
  );
}

describe("queries of readers", () => {
  let sections: readonly Section[] = [];
  let search: Search;
  beforeAll(async () => {
    await ensureBuilt();
    sections = JSON.parse(readFileSync(join(folders.site, "search.json"), "utf8"));
    search = await createSearch(sections);
  });

  test.each([
    { who: "who knows the words", queries: lists.known, count: 30, first: 0.95, amongThree: 0.95 },
    { who: "who knows Holdfast", queries: lists.own, count: 23, first: 0.7, amongThree: 0.95 },
    { who: "newcomers", queries: lists.newcomers, count: 53, first: 0.85, amongThree: 0.95 },
  ])("has its answer at the top: $who", ({ queries, count, first, amongThree }) => {
    const places = queries.map(({ query, expect: expected }) => {
      const found = search(query).map(({ url }) => url);
      return { query, found, at: found.findIndex((url) => isAmong(url, expected)) };
    });
    const missed = (max: number) => places.filter(({ at }) => at < 0 || at >= max);
    expect(queries).toHaveLength(count);
    const share = (max: number) => 1 - missed(max).length / queries.length;
    expect(share(3) < amongThree ? missed(3) : []).toEqual([]);
    expect(share(1) < first ? missed(1) : []).toEqual([]);
  });

  test("every expected answer exists", () => {
    const absent = [...lists.known, ...lists.own, ...lists.newcomers].flatMap(
      ({ query, expect: expected }) =>
        expected
          .filter((place) => !sections.some(({ url }) => isAmong(url, [place])))
          .map((place) => ({ query, place })),
    );
    expect(absent).toEqual([]);
  });

  test("half a word and a typo find it too; nonsense and stop words find nothing", () => {
    expect(search("idempot")[0]?.url).toContain("idempoten");
    expect(search("idempotant")[0]?.url).toContain("idempoten");
    expect(search("xyzzyq")).toEqual([]);
    expect(search("how to")).toEqual([]);
  });

  test("words of code, fields, settings, codes and reasons are found", () => {
    for (const [query, url] of [
      ["NODE_EXTRA_CA_CERTS", "/docs/client#a-certificate-of-your-own"],
      ["client_id", "/api/lease"],
      ["--waiting-leases-max", "/docs/configuration#waiting-leases-max"],
      ["queue_in_use", "/docs/errors#reason-queue_in_use"],
    ]) {
      expect([query, search(String(query)).map((found) => found.url)]).toEqual([
        query,
        expect.arrayContaining([url]),
      ]);
    }
  });
});

test("development: sections are read from the sources", async () => {
  const sections = sourceSections();
  expect(sections.find(({ url }) => url === "/docs/intro")?.heading).not.toBe("");
  const search = await createSearch(sections);
  expect(search("backup").length).toBeGreaterThan(0);
});

test("matched words are marked whole: other endings, half a word, parts of a name", async () => {
  const sections = [
    {
      url: "/docs/a",
      page: "A",
      heading: "Leases",
      text: "A lapsed lease of max_attempts lapses on; released is not.",
    },
  ];
  const search = await createSearch(sections);
  const markedFor = (query: string) => {
    const [found] = search(query);
    return [found?.heading, found?.text].map((text = "") =>
      partsOf(text, found?.terms ?? [])
        .map((part) => (part.isFound ? `[${part.text}]` : part.text))
        .join(""),
    );
  };
  expect(markedFor("leasing")).toEqual([
    "[Leases]",
    "A lapsed [lease] of max_attempts lapses on; released is not.",
  ]);
  expect(markedFor("attem lapse")).toEqual([
    "Leases",
    "A [lapsed] lease of max_[attempts] [lapses] on; released is not.",
  ]);
  expect(partsOf("Nothing asked.", []).some(({ isFound }) => isFound)).toBe(false);
});

test("an excerpt begins near the first term and ends at a word", () => {
  const text = `${"before ".repeat(40)}lease ${"after ".repeat(40)}`.trim();
  const excerpt = excerptOf(text, ["lease"]);
  expect(excerpt).toStartWith("… ");
  expect(excerpt).toContain("lease");
  expect(excerpt).toEndWith(" …");
  expect(excerptOf("short", ["none"])).toBe("short");
});

test("recent places: the newest first, each once, five at most", () => {
  const place = (url: string): Recent => ({ url, page: "p", heading: "h" });
  const urls = ["/a", "/b", "/c", "/a", "/d", "/e", "/f"];
  const list = urls.reduce<readonly Recent[]>((recent, url) => withRecent(recent, place(url)), []);
  expect(list.map(({ url }) => url)).toEqual(["/f", "/e", "/d", "/a", "/c"]);
});
