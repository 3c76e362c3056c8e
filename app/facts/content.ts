// The front matter of all content, for sidebars, lists and tags.

import { readContent } from "../build/content.ts";

export const { docs, posts, authors, tags } = readContent();
