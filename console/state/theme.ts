// Light or dark. The choice is the site's too: one key of local storage.

const storageKey = "theme";

export function toggleTheme(): void {
  const { dataset } = document.documentElement;
  dataset["theme"] = dataset["theme"] === "light" ? "dark" : "light";
  try {
    localStorage.setItem(storageKey, dataset["theme"]);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

/** Runs in `<head>` before the first paint: the mode, and whether the address names a queue. */
export const headScript = `(function(){var d=document.documentElement,c="dark";try{c=localStorage.getItem("${storageKey}")||c}catch(_){}
d.dataset.theme=c==="system"?matchMedia("(prefers-color-scheme: light)").matches?"light":"dark":c==="light"?"light":"dark";
if(/[?&]name=./.test(location.search))d.dataset.of="one"})()`;
