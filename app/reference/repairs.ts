// What the live reference leaves out for those who do not see it, put in as it appears.
// `static-html.ts` does the same to its text.

const scrollingParts = "code.custom-scroll:not([tabindex]), .response-card-footer:not([tabindex])";

/** What opens the contents on a small screen, and is no second banner. */
export const contentsBarName = "Contents of the reference";

/** Regions seen so far: each landmark gets a name of its own. */
let regions = 0;

export function keepRepaired(root: HTMLElement): () => void {
  const observer = new MutationObserver(() => repair(root));
  observer.observe(root, { childList: true, subtree: true });
  repair(root);
  return () => observer.disconnect();
}

function repair(root: HTMLElement): void {
  const main = root.querySelector("main");
  if (main !== null && main.id === "") {
    main.id = "main";
    main.tabIndex = -1;
  }
  for (const button of root.querySelectorAll<HTMLElement>("button:not([aria-label])")) {
    const isCopy = button.className.includes("copy-button") || button.textContent?.trim() === "";
    if (isCopy) button.setAttribute("aria-label", "Copy");
  }
  for (const guard of root.querySelectorAll<HTMLElement>('button[aria-hidden="true"]')) {
    if (guard.tabIndex !== -1) guard.tabIndex = -1;
  }
  for (const header of root.querySelectorAll("header:not([role])")) {
    header.setAttribute("role", "none");
    header.parentElement?.setAttribute("role", "navigation");
    header.parentElement?.setAttribute("aria-label", contentsBarName);
  }
  for (const scrolling of root.querySelectorAll<HTMLElement>(scrollingParts)) {
    scrolling.tabIndex = 0;
  }
  for (const region of root.querySelectorAll('[role="region"]:not([data-region])')) {
    regions += 1;
    region.setAttribute("data-region", "");
    region.setAttribute("aria-label", `${region.getAttribute("aria-label") ?? "Panel"} ${regions}`);
  }
}
