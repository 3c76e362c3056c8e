// Moves the page's code out of the way of its content. The router's document asks for
// its modules in <head>, before anything is painted; nothing here needs them to be
// read, so they are asked for after `load`, or, on a slow or metered connection, on
// the reader's first input. It rewrites the router's own text, and refuses to when that
// no longer looks as expected.

import { sharedChunks } from "./chunks.ts";

const preload = /<link rel="modulepreload" href="([^"]+)"\/?>/g;
const boot = /<script type="module" async="">([\s\S]*?)<\/script>/g;
/** Data of loaders, and what they would come through: `shell/site-router.tsx` does without. */
const stream =
  /<!--\$-->(<script>window\.__reactRouterContext\.streamController\.[\s\S]*?<\/script>|<!--\/?\$-->)+/;
const pipe = /window\.__reactRouterContext\.stream = new ReadableStream\([^<]*(?=<\/script>)/;

/** A page whose text is left as it came (`shell/still-page.ts`). */
export interface StillRoute {
  readonly id: string;
  /** What stands for its module, which is not asked for. */
  readonly handle: unknown;
  /** Its module, and what is imported by that alone. */
  readonly scripts: readonly string[];
}

/** The page with its boot module started late. */
export function bootLate(html: string, still: StillRoute | null = null): string {
  const found = [...html.matchAll(boot)];
  const [module] = found;
  if (module === undefined || found.length !== 1) {
    throw new Error(`boot script is not as expected; expected one, got ${found.length}`);
  }
  const hrefs = [...html.matchAll(preload)].map(([, href = ""]) => href);
  const code = still === null ? (module[1] ?? "") : withoutRoute(module[1] ?? "", still);
  const start = lateScript(
    hrefs.filter((href) => still?.scripts.includes(href) !== true),
    dynamic(code),
  );
  return html
    .replace(preload, "")
    .replace(stream, "")
    .replace(pipe, "")
    .replace(module[0], () => `<script type="module">${start}</script>`);
}

function withoutRoute(code: string, { id, handle }: StillRoute): string {
  const name = code.split(`${JSON.stringify(id)}:`)[1]?.match(/^route\d+/)?.[0];
  const imported = new RegExp(`import \\* as ${name} from "[^"]+";`);
  if (name === undefined || !imported.test(code)) {
    throw new Error(`boot script is not as expected; it does not import the route '${id}'`);
  }
  const text = JSON.stringify({ handle }).replaceAll("<", "\\u003c");
  return code
    .replace(imported, "")
    .replace(`${JSON.stringify(id)}:${name}`, () => `${JSON.stringify(id)}:${text}`);
}

/** Static imports as awaited ones, in their order. */
function dynamic(code: string): string {
  const rewritten = code
    .replace(/import \* as (\w+) from ("[^"]+");/g, "const $1=await import($2);")
    .replace(/^\s*import ("[^"]+");/gm, "await import($1);");
  if (/^\s*import\s+["*{\w]/m.test(rewritten)) {
    throw new Error("boot script is not as expected; it has an import of an unknown form");
  }
  return rewritten;
}

/** Whole as a document, the page stays readable; its reader learns why it does not move. */
const failure = `const d=document.createElement("div"),p=document.createElement("p"),b=document.createElement("button");d.className="chunk-failure";d.setAttribute("role","alert");p.textContent=e.message;b.type="button";b.textContent="Retry";b.onclick=()=>location.reload();d.append(p,b);document.body.append(d)`;

function lateScript(hrefs: readonly string[], code: string): string {
  // Each in a task of its own: in one with the rest they would hold up a phone.
  const first = sharedChunks.flatMap((name) => hrefs.filter((href) => href.includes(`/${name}-`)));
  return `const go=async()=>{for(const h of ${JSON.stringify(hrefs)}){const l=document.createElement("link");l.rel="modulepreload";l.href=h;document.head.append(l)}try{for(const h of ${JSON.stringify(first)}){await import(h);await new Promise(r=>setTimeout(r))}${code}}catch(e){${failure}}};
const idle=()=>"requestIdleCallback"in window?requestIdleCallback(go,{timeout:500}):setTimeout(go,1);
const c=navigator.connection,slow=c&&(c.saveData||/2g/.test(c.effectiveType));
if(slow){const kinds=["pointerdown","keydown","focusin"];const once=()=>{kinds.forEach(k=>removeEventListener(k,once,true));go()};kinds.forEach(k=>addEventListener(k,once,true))}
else document.readyState==="complete"?idle():addEventListener("load",idle,{once:true});`;
}
