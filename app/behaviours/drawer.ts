// The menu of small screens. Without code it is a popover. This file makes it a dialog that keeps
// the focus, and shows the main menu in place of the section's.

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
  // Wide windows show the bar instead; and a page restored on the way back must not show the
  // drawer.
  const close = () => drawer.close();
  matchMedia(`(min-width: ${desktopWidthMin + 1}px)`).addEventListener("change", close);
  window.addEventListener("pagehide", close);
  // If it was opened before this code was loaded, it becomes a dialog.
  if (!drawer.matches(":popover-open")) return;
  drawer.hidePopover();
  open();
}
