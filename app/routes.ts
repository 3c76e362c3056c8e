// Every address of the site. Docs and posts are MDX files that are routes themselves.

import { index, layout, type RouteConfig, route } from "@react-router/dev/routes";
import { docsFolder, listMdx } from "./build/content.ts";
import { authors, posts, tags } from "./facts/content.ts";
import { operations } from "./reference/operations.ts";
import { siteConfig } from "./site-config.ts";

const { docs, blog } = siteConfig;
const blogPath = blog.path.slice(1);

function versionRoutes({ name, path, mainDoc }: (typeof docs.versions)[number]) {
  const folder = `../content/${docsFolder(name)}`;
  const base = path.slice(1);
  return [
    route(base, `${folder}/${mainDoc}.mdx`, { id: `${name}/root` }),
    ...listMdx(docsFolder(name)).map((slug) =>
      route(`${base}/${slug}`, `${folder}/${slug}.mdx`, { id: `${name}/${slug}` }),
    ),
  ];
}

/** The posts of a tag or an author, each at its own address. */
const postLists = [
  ...authors.flatMap(({ name }) => [`authors/all-${name}-articles`, `authors/${name}`]),
  ...tags.map(({ name }) => `tags/${name}`),
];

export default [
  index("routes/home.tsx"),
  route("api", "routes/api.tsx"),
  ...operations.map(({ operationId }) =>
    route(`api/${operationId}`, "routes/api.tsx", { id: `api/${operationId}` }),
  ),
  layout("routes/docs-layout.tsx", docs.versions.flatMap(versionRoutes)),
  route(blogPath, "routes/blog-index.tsx"),
  route(`${blogPath}/archive`, "routes/blog-archive.tsx"),
  route(`${blogPath}/authors`, "routes/blog-authors.tsx"),
  route(`${blogPath}/tags`, "routes/blog-tags.tsx"),
  ...postLists.map((path) =>
    route(`${blogPath}/${path}`, "routes/blog-posts.tsx", { id: `posts/${path}` }),
  ),
  layout(
    "routes/blog-layout.tsx",
    posts.map(({ file, slug }) =>
      route(`${blogPath}/${slug}`, `../content/blog/${file}.mdx`, { id: `post/${slug}` }),
    ),
  ),
  layout(
    "routes/page-layout.tsx",
    listMdx("pages").map((name) =>
      route(name, `../content/pages/${name}.mdx`, { id: `page/${name}` }),
    ),
  ),
  route("*", "routes/not-found.tsx", { id: "not-found" }),
] satisfies RouteConfig;
