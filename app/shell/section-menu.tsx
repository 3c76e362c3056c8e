import type { ReactNode } from "react";
import { SiteLink } from "./site-link.tsx";

interface SectionMenuProps {
  readonly groups: readonly {
    /** "" = it has none. */
    readonly label: string;
    readonly links: readonly { readonly to: string; readonly label: string }[];
  }[];
  /** Path of the current page. */
  readonly current: string;
}

/** The pages of a section, for its sidebar and the drawer. */
export function SectionMenu({ groups, current }: SectionMenuProps): ReactNode {
  return groups.map(({ label, links }) => (
    <section key={label} className="menu-group">
      {label !== "" && <h2>{label}</h2>}
      <ul className="menu note">
        {links.map((link) => (
          <li key={link.to}>
            <SiteLink to={link.to} aria-current={link.to === current ? "page" : undefined}>
              {link.label}
            </SiteLink>
          </li>
        ))}
      </ul>
    </section>
  ));
}
