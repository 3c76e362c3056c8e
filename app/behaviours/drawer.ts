// The menu of small screens. By itself it is a popover. With this it is a dialog that keeps the
// focus, and shows the main menu in the place of the section's.

import { desktopWidthMin } from "../config/constants.ts";

export function startDrawer(): void {
  const drawer = document.querySelector<HTMLDialogElement>("dialog.drawer");
  const opener = document.querySelector<HTMLButtonElement>(".menu-button");
  if (drawer === null || opener === null) return;
  const open = () => {
    drawer.showModal();
    opener.ariaExpanded = "true";
  };
  opener.addEventListener("click", (event) => {
    event.preventDefault();
    open();
  });
  drawer.addEventListener("close", () => {
    opener.ariaExpanded = "false";
    delete drawer.dataset["main"];
  });
  drawer.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element)) return;
    if (target === drawer || target.closest(".drawer-close") !== null) drawer.close();
    if (target.closest(".drawer-back") === null) return;
    drawer.dataset["main"] = "";
    drawer.querySelector<HTMLElement>(".drawer-main a")?.focus();
  });
  // A wide window has the bar; and a page that is left is not found open on the way back.
  const close = () => drawer.close();
  matchMedia(`(min-width: ${desktopWidthMin + 1}px)`).addEventListener("change", close);
  window.addEventListener("pagehide", close);
  // Opened before this came, it goes on as a dialog.
  if (!drawer.matches(":popover-open")) return;
  drawer.hidePopover();
  open();
}
