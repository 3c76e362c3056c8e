// `virtual:api-reference`: the API as Scalar shows it, rendered at build time by Vue. The
// page holds it as text, so that it can be read before any code of Scalar's runs. The
// browser's build has none of it: it would be the page twice.

import type { Plugin } from "vite";
import openapi from "../../openapi/openapi.json" with { type: "json" };
import { fragmentOf, operations } from "./operations.ts";
import { scalarOptions } from "./scalar-options.ts";
import { readable, stylesIn } from "./static-html.ts";
import { scalarStyles, usedStyles } from "./used-styles.ts";

const name = "virtual:api-reference";
const id = `\0${name}`;
/** Its styles, for the text only: the live reference brings all of them. */
const stylesName = "virtual:api-reference.css";
const standIn = `<main id="main" tabindex="-1" aria-busy="true"><h1 class="visually-hidden">${openapi.info.title}</h1></main>`;

export function scalarPlugin(): Plugin {
  let rendered: Promise<Rendered> | undefined;
  return {
    name: "holdfast-api-reference",
    resolveId: (source) => (source === name ? id : source === stylesName ? stylesName : undefined),
    async load(source, options) {
      if (source !== id && source !== stylesName) return undefined;
      rendered ??= render();
      const { text, styles } = await rendered;
      if (source === stylesName) return usedStyles(scalarStyles(), text) + styles;
      const html = options?.ssr === true ? text : standIn;
      const fragments = Object.fromEntries(
        operations.map((one) => [one.operationId, fragmentOf(one)]),
      );
      return `export const html = ${JSON.stringify(html)};\nexport const fragments = ${JSON.stringify(fragments)};`;
    },
  };
}

interface Rendered {
  readonly text: string;
  readonly styles: string;
}

async function render(): Promise<Rendered> {
  const [{ ApiReference }, { createHead }, { createSSRApp, h }, { renderToString }] =
    await Promise.all([
      import("@scalar/api-reference"),
      import("@unhead/vue/server"),
      import("vue"),
      import("vue/server-renderer"),
    ]);
  const configuration = { ...scalarOptions, content: openapi };
  const app = createSSRApp({ render: () => h(ApiReference, { configuration }) });
  app.use(createHead());
  app.config.idPrefix = "scalar-refs";
  const places = operations.map((one) => ({
    operationId: one.operationId,
    fragment: fragmentOf(one),
  }));
  const html = await renderToString(app);
  return { text: readable(html, places), styles: stylesIn(html) };
}
