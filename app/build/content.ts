// Reads, sorts and validates the front matter of everything in content/. A page without a title or
// with an unknown tag fails the build with the name of its file.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { siteConfig } from "../site-config.ts";
import { readingMinutes } from "./reading-time.ts";
import { folders, listFiles } from "./site-folder.ts";

export const contentFolder = join(folders.root, "content");

type FrontMatter = Readonly<Record<string, unknown>>;

/** Paths without extension, in the same order on every machine. */
export function listMdx(folder: string): readonly string[] {
  return listFiles(join(contentFolder, folder))
    .filter((file) => file.endsWith(".mdx"))
    .map((file) => file.slice(0, -".mdx".length));
}

/** Folder of a version's docs in content/. */
export function docsFolder(version: string): string {
  return version === "current" ? "docs" : `docs-${version}`;
}

/** Posts are in reverse chronological order. */
export function readContent() {
  const authors = readList("blog/authors.yml").map(([name, text]) => ({
    name,
    title: text("name"),
    role: text("title"),
    description: text("description"),
  }));
  const tags = readList("blog/tags.yml").map(([name, text]) => ({
    name,
    label: text("label"),
    description: text("description"),
  }));
  const posts = listMdx("blog").map((file) => readPost(file, { authors, tags }));
  return {
    docs: siteConfig.docs.versions.flatMap(({ name }) => readDocs(name)),
    posts: posts.sort((a, b) => b.date.localeCompare(a.date) || a.slug.localeCompare(b.slug)),
    authors,
    tags,
  };
}

export type DocData = ReturnType<typeof readDocs>[number];

function readDocs(version: string) {
  const folder = docsFolder(version);
  return listMdx(folder)
    .map((slug) => {
      const { data, text } = readMdx(`${folder}/${slug}`);
      return {
        slug,
        version,
        title: text("title"),
        /** Name in the sidebar. */
        label: String(data["sidebar_label"] ?? text("title")),
        description: text("description"),
        position: Number(data["sidebar_position"] ?? 99),
      };
    })
    .sort((a, b) => a.position - b.position || a.slug.localeCompare(b.slug));
}

export type PostData = ReturnType<typeof readPost>;

function readPost(
  file: string,
  { authors, tags }: Record<"authors" | "tags", readonly { readonly name: string }[]>,
) {
  const { data, text, body } = readMdx(`blog/${file}`);
  const namesOf = (key: string, among: readonly { readonly name: string }[]) => {
    const known = among.map(({ name }) => name);
    const given = [data[key] ?? []].flat().map(String);
    const unknown = given.find((name) => !known.includes(name));
    if (unknown === undefined) return given;
    const expected = `expected one of ${known.join(", ")}`;
    throw new Error(`${key} of '${file}' is invalid; ${expected}, got '${unknown}'`);
  };
  return {
    /** Name in content/blog, without extension. */
    file,
    slug: String(data["slug"] ?? file),
    title: text("title"),
    description: text("description"),
    /** `YYYY-MM-DD`. */
    date: text("date"),
    authors: namesOf("authors", authors),
    tags: namesOf("tags", tags),
    readingMinutes: readingMinutes(body),
  };
}

/** Reads required texts. */
type TextReader = (key: string) => string;

function textsIn(data: FrontMatter, file: string): TextReader {
  return (key) => {
    const value = data[key];
    if (typeof value === "string" && value !== "") return value;
    throw new Error(`${key} is missing in '${file}'`);
  };
}

function readList(file: string): readonly (readonly [name: string, text: TextReader])[] {
  const entries: Readonly<Record<string, FrontMatter>> = parse(read(file));
  return Object.entries(entries).map(([name, data]) => [name, textsIn(data, file)]);
}

function readMdx(path: string) {
  const file = `${path}.mdx`;
  const [, head, body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)/.exec(read(file)) ?? [];
  if (head === undefined) throw new Error(`'${file}' has no front matter`);
  const data: FrontMatter = parse(head);
  return { data, body, text: textsIn(data, file) };
}

function read(file: string): string {
  return readFileSync(join(contentFolder, file), "utf8");
}
