import type { ReactNode } from "react";
import { Mark } from "./mark.tsx";

/** The mark and the name, for the bar and the footer. */
export function Logo({ size = 22 }: { readonly size?: number }): ReactNode {
  return (
    <span className="logo">
      <Mark size={size} />
      <span>Holdfast</span>
    </span>
  );
}
