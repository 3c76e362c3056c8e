// Light or dark. The choice is the site's too: one key of local storage.

const storageKey = "theme";

export function toggleTheme(): void {
  const { dataset } = document.documentElement;
  dataset["theme"] = dataset["theme"] === "light" ? "dark" : "light";
  try {
    localStorage.setItem(storageKey, dataset["theme"]);
  } catch {
    // Then it holds for the page.
  }
}

/**
 * In `<head>`, before the first paint: the mode, whether the address names a queue, and how high the
 * alarms were, so that what is below them stands where it will.
 */
export const headScript = `(function(){var d=document.documentElement,c="dark",h;try{c=localStorage.getItem("${storageKey}")||c;h=localStorage.getItem("holdfast.console.alarms")}catch(_){}
d.dataset.theme=c==="system"?matchMedia("(prefers-color-scheme: light)").matches?"light":"dark":c==="light"?"light":"dark";
if(/[?&]name=./.test(location.search))d.dataset.of="one";
if(h)d.style.setProperty("--alarms",parseInt(h,10)+"px")})()`;
