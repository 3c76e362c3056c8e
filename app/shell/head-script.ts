// The script in <head> that runs before anything is painted. What it decides is on
// <html>, so neither the mode nor the announcement bar flashes or moves the page.

import type { SiteConfig } from "../config/types.ts";
import { siteConfig } from "../site-config.ts";

export const storageKeys = {
  theme: "theme",
  announcement: "announcement.dismissed",
  /** Where a click was going, in case its code cannot be loaded (`visit-note.ts`). */
  visit: "visit",
} as const;

const s = JSON.stringify;
const isInBrowser = import.meta.env.SSR === false && !import.meta.env.DEV;

/** Empty in the browser, where it has run. */
export const headScript = isInBrowser ? "" : headScriptOf(siteConfig);

/**
 * Until the page is mounted the script also notes the button that was pressed last, for
 * `early-press.ts`. A host that serves files as they lie shows a page at its file's address
 * too, which the router does not know: there it is shown under its own. What is named by
 * another file's name is asked for again, because what came may be the page of unknown
 * addresses.
 */
export function headScriptOf({ colorMode, announcementBar }: SiteConfig): string {
  const dismissible = announcementBar?.isCloseable === true ? announcementBar.id : "";
  return `(function(){var l=location,p=l.pathname,q=p.replace(/(\\/index)?\\.html$/,""),r=(q||"/")+l.search+l.hash,d=document.documentElement.dataset;d.js="";
if(p!==q)p.endsWith("/index.html")?history.replaceState(0,"",r):l.replace(r);
addEventListener("click",function(v){var b=v.target.closest("button:not([data-search])");if(b&&!("mounted"in d))window.earlyPress=b},true);
try{var n=sessionStorage.getItem(${s(storageKeys.visit)});if(n){sessionStorage.removeItem(${s(storageKeys.visit)});if(performance.getEntriesByType("navigation")[0].type==="reload"&&n!==r)l.replace(n)}}catch(_){}
var c=${s(colorMode.defaultMode)};try{c=localStorage.getItem(${s(storageKeys.theme)})||c;if(localStorage.getItem(${s(storageKeys.announcement)})===${s(dismissible)})d.announcement="dismissed"}catch(_){}
d.themeChoice=c;d.theme=c==="system"?matchMedia("(prefers-color-scheme: light)").matches?"light":"dark":c==="light"?"light":"dark"})()`;
}
