// What Scalar renders at build time, made fit to be read as it is: fragments that a
// browser can follow, names for what has none, and nothing of what only Vue needs.

import { anchorClass } from "./first-input.ts";
import { contentsBarName } from "./repairs.ts";

export interface OperationPlace {
  readonly operationId: string;
  /** As in the address: `tag/items/produce`. */
  readonly fragment: string;
}

const ownStyles = /<style[^>]*>([\s\S]*?)<\/style>/g;
/** Properties of Vue's components that are no attributes of HTML. */
const notHtml =
  /\s(?:controlled|modelvalue|truncated|hidereadonly|data-headlessui-state|data-testid)(?:="[^"]*")?(?=[\s>])/g;
/** Scalar's name of the one document, which its addresses leave out. */
const documentPrefix = /(\s(?:id|aria-controls|aria-labelledby|for)=")api-1\//g;

/** The styles of its theme, which Scalar renders into its HTML. */
export function stylesIn(rendered: string): string {
  return [...rendered.matchAll(ownStyles)].map(([, css = ""]) => css).join("\n");
}

export function readable(rendered: string, places: readonly OperationPlace[]): string {
  const html = rendered
    // Taken away with the text, it would have the browser lay out the whole page anew.
    .replace(ownStyles, "")
    // Marks by which Vue finds its nodes again; nothing here is hydrated.
    .replace(/<!--(?:\[|\]|)-->/g, "")
    // What keeps the focus in a set of tabs; it is gone as soon as Scalar runs.
    .replace(/<button[^>]*aria-hidden="true"[^>]*position:fixed[^>]*><\/button>/g, "")
    .replace(/<nav[^>]*data-scalar-crawler-nav[\s\S]*?<\/nav>/, "")
    .replace(documentPrefix, "$1")
    .replace(notHtml, "");
  return withFewIds(named(html, places));
}

/** Ids that only code asks for, and the long names of the rest. */
function withFewIds(html: string): string {
  const asked = new Set(
    [...html.matchAll(/\saria-(?:labelledby|describedby)="([^"]+)"/g)].flatMap(([, ids = ""]) =>
      ids.split(" "),
    ),
  );
  return html
    .replace(/\saria-controls="[^"]*"/g, "")
    .replace(/\sid="([^"]*scalar-refs-[^"]*)"/g, (id, name: string) => (asked.has(name) ? id : ""))
    .replace(/scalar-refs-0-/g, "r");
}

/** The accessible names and states that Scalar leaves out; `repairs.ts` does it to the live one. */
function named(html: string, places: readonly OperationPlace[]): string {
  let regions = 0;
  const repaired = html
    .replace(/<main /, '<main id="main" tabindex="-1" ')
    .replace(/<button(?![^>]*aria-label)([^>]*group\/copy-button)/g, '<button aria-label="Copy"$1')
    // A landmark needs a name of its own.
    .replace(/role="region"([^>]*?)aria-label="([^"]*)"/g, (_, other: string, name: string) => {
      regions += 1;
      return `role="region"${other}aria-label="${name} ${regions}"`;
    })
    // The site has its banner already; this one opens the contents.
    .replace(
      /(<div [^>]*t-doc__header[^>]*)><header /g,
      `$1 role="navigation" aria-label="${contentsBarName}"><header role="none" `,
    )
    // What scrolls can be reached and scrolled by keyboard.
    .replace(/<code([^>]*custom-scroll)/g, '<code tabindex="0"$1')
    .replace(/<div([^>]*response-card-footer)/g, '<div tabindex="0"$1');
  return places.reduce(
    (text, { operationId, fragment }) =>
      text.replace(
        new RegExp(`(<section[^>]* id="${RegExp.escape(fragment)}"[^>]*>)`),
        `$1<span id="${operationId}" class="${anchorClass}"></span>`,
      ),
    repaired,
  );
}
