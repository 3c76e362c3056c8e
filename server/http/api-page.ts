// The server's own API page, built by `@elysiajs/swagger` from the same document as `openapi.json`.
// The plugin would load its script from a CDN; here the installed package provides it, and without
// that package a plain list is served. The page's policy forbids requests to other origins.

import { dirname, join } from "node:path";
import { document, documentText } from "../../openapi/document.ts";
import { operations, pages } from "../../openapi/operations.ts";
import { htmlResponse, jsonResponse } from "./reply.ts";

const paths = {
  page: "/swagger",
  document: "/swagger/json",
  script: "/swagger/scalar.js",
} as const;

/** The page's script sets inline styles; everything else is limited to this origin. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const scriptHeaders = {
  "content-type": "text/javascript; charset=utf-8",
  "cache-control": "max-age=3600",
  "x-content-type-options": "nosniff",
};

type PageHandler = () => Response | Promise<Response>;

/**
 * Returns paths and their handlers. `basePath`: their prefix behind a proxy. `hasKeys`: whether the
 * document declares that a key is required. `script`: file of the page's script; `null` = none.
 */
export function apiPageRoutes(
  served: { readonly basePath: string; readonly hasKeys: boolean },
  script = installedScript(),
): readonly (readonly [string, PageHandler])[] {
  const { basePath } = served;
  const html = (text: string) => htmlResponse(text, { "content-security-policy": policy });
  const documentRoute = [paths.document, () => jsonResponse(documentText(served))] as const;
  if (script === null) return [[paths.page, () => html(plainPage(basePath))], documentRoute];
  return [
    [paths.page, async () => html(await scalarPage(basePath))],
    documentRoute,
    [paths.script, () => new Response(Bun.file(script), { headers: scriptHeaders })],
  ];
}

/** The plugin renders only the title and the summary; the page fetches the document itself. */
async function scalarPage(basePath: string): Promise<string> {
  // Imported at the first request of the page: it uses 3 MB of memory.
  const { swagger } = await import("@elysiajs/swagger");
  const { title, summary, version } = document().info;
  const plugin = swagger({
    path: paths.page,
    scalarCDN: basePath + paths.script,
    documentation: { info: { title, description: summary, version } },
    scalarConfig: {
      spec: { url: basePath + paths.document },
      // Only fonts and the agent would come from other origins.
      withDefaultFonts: false,
      customCss: "",
      // The plugin's types lack these. The page sends its test requests to the server it came from.
      ...{
        agent: { disabled: true },
        mcp: { disabled: true },
        telemetry: false,
        showDeveloperTools: "never",
        servers: [{ url: basePath || "/", description: "This server." }],
      },
    },
  });
  const page = await plugin.handle(new Request(`http://localhost${paths.page}`));
  return page.text();
}

function plainPage(basePath: string): string {
  const { title, summary } = document().info;
  const rows = [
    ...Object.values(operations).map((operation) => ["POST", operation.path, operation.summary]),
    ...Object.values(pages).map((page) => [page.method, page.path, page.summary]),
  ].map(
    ([method, path, summary]) =>
      `<tr><td>${method}</td><td>${basePath}${path}</td><td>${summary}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1>${title}</h1>
<p>${summary} The whole description: <a href="${basePath}${paths.document}">OpenAPI document</a>.</p>
<table>${rows.join("")}</table>
</body>
</html>
`;
}

/** `null` = the site's packages are not installed. */
function installedScript(): string | null {
  try {
    const entry = Bun.resolveSync("@scalar/api-reference", import.meta.dir);
    return join(dirname(entry), "browser", "standalone.js");
  } catch {
    return null;
  }
}
