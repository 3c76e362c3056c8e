// The script in <head>, which runs before the first paint. It stores its decisions on <html>, so
// neither the colour mode nor the announcement bar flashes or moves the page.

import { failureId, reloadedKey, storageKeys } from "../behaviours/storage.ts";
import type { SiteConfig } from "../config/types.ts";
import { siteConfig } from "../site-config.ts";

const s = JSON.stringify;

export const headScript = headScriptOf(siteConfig);

/**
 * Requests the page's own script after the first paint. Until that has started, it records the
 * button pressed last, which `entry.client.tsx` presses again. A static host also serves a page at
 * its file's address: the script then shows the page's own address. Files loaded under another name
 * are requested again, because the response may have been the 404 page. A page that begins at its
 * top (no reload, no history, no hash) is marked as fresh: a part of it is laid out later
 * (`styles/later.css`). If the page's own script fails to load, it acts like
 * `behaviours/part-failure.ts`. The links to typefaces precede it: they apply on a phone too once
 * `behaviours/fonts.ts` has fetched them.
 */
export function headScriptOf({ colorMode, announcementBar }: SiteConfig): string {
  const dismissible = announcementBar?.isCloseable === true ? announcementBar.id : "";
  return `(function(){var l=location,p=l.pathname,q=p.replace(/(\\/index)?\\.html$/,""),r=(q||"/")+l.search+l.hash,d=document.documentElement.dataset;d.js="";
if(!l.hash&&performance.getEntriesByType("navigation")[0]?.type==="navigate")d.fresh="";
if(p!==q)p.endsWith("/index.html")?history.replaceState(0,"",r):l.replace(r);
addEventListener("DOMContentLoaded",function(){var e=document.createElement("script");e.type="module";e.src=d.entry;if(d.entry)new PerformanceObserver(function(_,o){o.disconnect();document.body.append(e)}).observe({type:"paint",buffered:true})});
addEventListener("click",function(v){var b=v.target.closest("button:not([popovertarget],[data-search])");if(b&&!("mounted"in d))window.earlyPress=b},true);
addEventListener("error",function(v){if(v.target.type!=="module")return;fetch(l.href,{method:"HEAD",cache:"no-store"}).then(function(a){if(a.status<500&&sessionStorage.getItem(${s(reloadedKey)})===null){sessionStorage.setItem(${s(reloadedKey)},"");l.reload();return 1}}).catch(function(){}).then(function(r){if(!r)document.getElementById(${s(failureId)}).hidden=false})},true);
var c=${s(colorMode.defaultMode)};try{c=localStorage.getItem(${s(storageKeys.theme)})||c;if(localStorage.getItem(${s(storageKeys.announcement)})===${s(dismissible)})d.announcement="dismissed";if(localStorage.getItem(${s(storageKeys.fonts)})!==null)d.fonts="",document.querySelectorAll("link[as=font]").forEach(function(f){f.media="all"})}catch(_){}
d.themeChoice=c;d.theme=c==="system"?matchMedia("(prefers-color-scheme: light)").matches?"light":"dark":c==="light"?"light":"dark"})()`;
}
