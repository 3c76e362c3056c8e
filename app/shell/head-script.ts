// The script in <head> that runs before anything is painted. What it decides is on
// <html>, so neither the mode nor the announcement bar flashes or moves the page.

import { siteConfig } from "../site-config.ts";

export const storageKeys = {
  theme: "theme",
  announcement: "announcement.dismissed",
  /** Where a click was going, in case its code cannot be loaded (`visit-note.ts`). */
  visit: "visit",
} as const;

const { colorMode, announcementBar } = siteConfig;
const s = JSON.stringify;
const isInBrowser = import.meta.env.SSR === false && !import.meta.env.DEV;

/**
 * Empty in the browser, where it has run. Until the page is mounted it also notes the
 * button that was pressed last, for `early-press.ts`.
 */
export const headScript = isInBrowser
  ? ""
  : `(function(){var e=document.documentElement,d=e.dataset;d.js="";
addEventListener("click",function(v){var b=v.target.closest("button");if(b&&!("mounted"in d))window.earlyPress=b},true);
addEventListener("keydown",function(v){if((v.ctrlKey||v.metaKey)&&v.key==="k"&&!("mounted"in d)){v.preventDefault();window.earlyPress=document.querySelector(".search-button")}});
try{var n=sessionStorage.getItem(${s(storageKeys.visit)});if(n){sessionStorage.removeItem(${s(storageKeys.visit)});if(performance.getEntriesByType("navigation")[0].type==="reload"&&n!==location.pathname+location.search+location.hash)location.replace(n)}}catch(_){}
var c=${s(colorMode.defaultMode)};try{c=localStorage.getItem(${s(storageKeys.theme)})||c;if(localStorage.getItem(${s(storageKeys.announcement)})===${s(announcementBar?.id ?? "")})d.announcement="dismissed"}catch(_){}
d.themeChoice=c;d.theme=c==="system"?matchMedia("(prefers-color-scheme: light)").matches?"light":"dark":c==="light"?"light":"dark"})()`;
