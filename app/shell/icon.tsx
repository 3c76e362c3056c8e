// The icons, drawn on a grid of 20 units.

import type { ReactNode } from "react";

const paths = {
  menu: "M3 6h14M3 10h14M3 14h14",
  close: "M5 5l10 10M15 5L5 15",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M13 13l4 4",
  down: "M6 8l4 4 4-4",
  back: "M12 5l-5 5 5 5",
  out: "M7 5h8v8M15 5L5 15",
  light:
    "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.5 1.5M14.2 14.2l1.5 1.5M4.3 15.7l1.5-1.5M14.2 5.8l1.5-1.5",
  dark: "M16 11.6A6.5 6.5 0 0 1 8.4 4 6.5 6.5 0 1 0 16 11.6z",
  system: "M3 4.5h14v9H3zM7.5 16.5h5",
  language: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M3 10h14M10 3c-4 4-4 10 0 14M10 3c4 4 4 10 0 14",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
