import type { ReactNode } from "react";
import { Logo as Brand } from "../brand/logo.tsx";
import type { FooterColumn, FooterConfig, FooterLink } from "../config/types.ts";
import { siteConfig } from "../site-config.ts";
import { SiteLink } from "./site-link.tsx";

export function Footer({ config = siteConfig.footer }: { config?: FooterConfig }): ReactNode {
  return (
    <footer className={`footer footer-${config.style}`} id="site-footer">
      <div className="footer-inner frame">
        <div className="footer-brand">
          <FooterLogo config={config} />
          <p className="note">{siteConfig.tagline}.</p>
        </div>
        <FooterLinks links={config.links} />
        <p className="footer-copyright">{config.copyright}</p>
      </div>
    </footer>
  );
}

function FooterLogo({ config: { logo } }: { readonly config: FooterConfig }): ReactNode {
  if (logo === undefined) {
    return (
      <p className="footer-name">
        <Brand />
      </p>
    );
  }
  const { src, srcDark, alt, width, height, href } = logo;
  const size = { width, height, loading: "lazy" as const };
  const images = (
    <>
      <img src={src} alt={alt} {...size} data-only={srcDark === undefined ? undefined : "light"} />
      {srcDark !== undefined && <img src={srcDark} alt={alt} {...size} data-only="dark" />}
    </>
  );
  return href === undefined ? images : <SiteLink to={href}>{images}</SiteLink>;
}

function isColumn(entry: FooterColumn | FooterLink): entry is FooterColumn {
  return "items" in entry;
}

function FooterLinks({ links }: Pick<FooterConfig, "links">): ReactNode {
  const columns = [...links].filter(isColumn);
  if (columns.length === 0) {
    return (
      <nav className="footer-flat" aria-label="Footer">
        <LinkList links={links as readonly FooterLink[]} />
      </nav>
    );
  }
  return (
    <nav className="footer-columns" aria-label="Footer">
      {columns.map(({ title, items }) => (
        <div key={title}>
          <h2>{title}</h2>
          <LinkList links={items} />
        </div>
      ))}
    </nav>
  );
}

function LinkList({ links }: { readonly links: readonly FooterLink[] }): ReactNode {
  return (
    <ul>
      {links.map(({ label, to, href }) => (
        <li key={label}>
          <SiteLink to={to ?? href ?? "/"}>{label}</SiteLink>
        </li>
      ))}
    </ul>
  );
}
