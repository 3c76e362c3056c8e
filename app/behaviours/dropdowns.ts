// The lists of the navigation bar open without code. This closes them on a press, a touch or a
// focus elsewhere, and on Escape.

export function startDropdowns(): void {
  const dropdowns = [...document.querySelectorAll<HTMLDetailsElement>(".dropdown")];
  const leave = ({ target }: Event) => {
    for (const dropdown of dropdowns) {
      if (target instanceof Node && !dropdown.contains(target)) dropdown.open = false;
    }
  };
  for (const kind of ["mousedown", "touchstart", "focusin"] as const) {
    document.addEventListener(kind, leave, { passive: true });
  }
  for (const dropdown of dropdowns) {
    dropdown.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape" || !dropdown.open) return;
      dropdown.open = false;
      dropdown.querySelector("summary")?.focus();
    });
  }
}
