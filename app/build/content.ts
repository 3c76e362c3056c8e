// Reads the front matter of everything in content/, once, sorted, and checked: a
// page without a title or with an unknown tag fails the build and names its file.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { AuthorData, Content, DocData, PostData, TagData } from "../content-types.ts";
import { siteConfig } from "../site-config.ts";
import { proseOf, readingMinutes } from "./reading-time.ts";

export const contentFolder = fileURLToPath(new URL("../../content", import.meta.url));

type FrontMatter = Readonly<Record<string, unknown>>;

/** A source file split into its front matter and the rest. */
export function splitFrontMatter(source: string): { data: FrontMatter; body: string } | null {
  const match = /^---\n([\s\S]*?)\n---\n?/.exec(source);
  if (match === null) return null;
  return {
    data: (parse(match[1] ?? "") ?? {}) as FrontMatter,
    body: source.slice(match[0].length),
  };
}

/** Paths without extension, in an order that is the same on every machine. */
export function listMdx(folder: string): readonly string[] {
  const path = join(contentFolder, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { encoding: "utf8", recursive: true })
    .filter((file) => file.endsWith(".mdx"))
    .sort()
    .map((file) => file.slice(0, -".mdx".length));
}

/** Folder in content/ of a version's docs. */
export function docsFolder(version: string): string {
  return version === "current" ? "docs" : `docs-${version}`;
}

export function readContent(): Content {
  const authors = readAuthors();
  const tags = readTags();
  const posts = listMdx("blog").map((file) => readPost(file, { authors, tags }));
  return {
    docs: siteConfig.docs.versions.flatMap(({ name }) => readDocs(name)),
    posts: posts.sort((a, b) => b.date.localeCompare(a.date) || a.slug.localeCompare(b.slug)),
    authors,
    tags,
  };
}

function readDocs(version: string): readonly DocData[] {
  const folder = docsFolder(version);
  return listMdx(folder)
    .map((slug) => {
      const { data } = read(`${folder}/${slug}.mdx`);
      return {
        slug,
        version,
        title: text(data, "title", slug),
        label: typeof data["sidebar_label"] === "string" ? data["sidebar_label"] : "",
        description: text(data, "description", slug),
        position: typeof data["sidebar_position"] === "number" ? data["sidebar_position"] : 99,
      };
    })
    .sort((a, b) => a.position - b.position || a.slug.localeCompare(b.slug))
    .map(({ label, ...doc }) => ({ ...doc, label: label === "" ? doc.title : label }));
}

function readPost(
  file: string,
  known: { readonly authors: readonly AuthorData[]; readonly tags: readonly TagData[] },
): PostData {
  const { data, body } = read(`blog/${file}.mdx`);
  const date = data["date"] instanceof Date ? data["date"].toISOString() : text(data, "date", file);
  return {
    file,
    slug: typeof data["slug"] === "string" ? data["slug"] : file,
    title: text(data, "title", file),
    description: text(data, "description", file),
    date: date.slice(0, 10),
    authors: names(data, "authors", { file, known: known.authors.map(({ name }) => name) }),
    tags: names(data, "tags", { file, known: known.tags.map(({ name }) => name) }),
    readingMinutes: readingMinutes(proseOf(body)),
  };
}

function readAuthors(): readonly AuthorData[] {
  const entries = readYaml("blog/authors.yml");
  return Object.entries(entries).map(([name, value]) => {
    const data = value as FrontMatter;
    return {
      name,
      title: text(data, "name", "authors.yml"),
      role: typeof data["title"] === "string" ? data["title"] : "",
      description: typeof data["description"] === "string" ? data["description"] : "",
    };
  });
}

function readTags(): readonly TagData[] {
  return Object.entries(readYaml("blog/tags.yml")).map(([name, value]) => {
    const data = value as FrontMatter;
    return {
      name,
      label: text(data, "label", "tags.yml"),
      description: typeof data["description"] === "string" ? data["description"] : "",
    };
  });
}

function readYaml(file: string): FrontMatter {
  const path = join(contentFolder, file);
  return existsSync(path) ? ((parse(readFileSync(path, "utf8")) ?? {}) as FrontMatter) : {};
}

function read(file: string) {
  const split = splitFrontMatter(readFileSync(join(contentFolder, file), "utf8"));
  if (split === null) throw new Error(`${file} has no front matter`);
  return split;
}

function text(data: FrontMatter, key: string, file: string): string {
  const value = data[key];
  if (typeof value === "string" && value !== "") return value;
  throw new Error(`${key} is missing in the front matter of '${file}'`);
}

function names(
  data: FrontMatter,
  key: string,
  { file, known }: { readonly file: string; readonly known: readonly string[] },
): readonly string[] {
  const value = data[key];
  const given = (Array.isArray(value) ? value : value === undefined ? [] : [value]).map(String);
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return given;
  throw new Error(
    `${key} of '${file}' is invalid; expected one of ${known.join(", ")}, got '${unknown}'`,
  );
}
