// Sections of the sources, without what components add to a page.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import Slugger from "github-slugger";
import { postPath } from "../blog/posts.ts";
import type { Section } from "../search/engine.ts";
import { siteConfig } from "../site-config.ts";
import { contentFolder, docsFolder, readContent, splitFrontMatter } from "./content.ts";
import { proseOf } from "./reading-time.ts";

export function sourceSections(): readonly Section[] {
  const { docs, posts } = readContent();
  const [version] = siteConfig.docs.versions;
  if (version === undefined) return [];
  return [
    ...docs
      .filter((doc) => doc.version === version.name)
      .flatMap(({ slug, title }) =>
        sectionsOf(`${docsFolder(version.name)}/${slug}.mdx`, `${version.path}/${slug}`, title),
      ),
    ...posts.flatMap((post) => sectionsOf(`blog/${post.file}.mdx`, postPath(post), post.title)),
  ];
}

function sectionsOf(file: string, url: string, page: string): readonly Section[] {
  const source = readFileSync(join(contentFolder, file), "utf8");
  const body = splitFrontMatter(source)?.body ?? source;
  const slugger = new Slugger();
  const plain = body.replace(/^```[\s\S]*?^```/gm, " ");
  const [lead = "", ...parts] = plain.split(/^#{2,3} +/m);
  return [
    { url, page, heading: page, text: tidy(lead) },
    ...parts.map((part) => {
      const [line = "", ...rest] = part.split("\n");
      const heading = line.replaceAll("`", "");
      return { url: `${url}#${slugger.slug(heading)}`, page, heading, text: tidy(rest.join("\n")) };
    }),
  ];
}

function tidy(text: string): string {
  return proseOf(text).replace(/\s+/g, " ").trim();
}
