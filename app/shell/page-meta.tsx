// Title, description, canonical address and card of a page. React moves them to <head>. Addresses
// must be absolute there, so they are omitted if the site's address is unknown.

import type { ReactNode } from "react";
import { siteConfig } from "../site-config.ts";
import { cardPath } from "./card-path.ts";

interface PageMetaProps {
  readonly title: string;
  readonly description: string;
  /** Path of the page's canonical address. */
  readonly path: string;
  readonly kind?: "website" | "article";
  readonly isIndexed?: boolean;
}

export function titleOf(page: string): string {
  const { title, tagline, titleDelimiter } = siteConfig;
  return page === title
    ? `${title} ${titleDelimiter} ${tagline}`
    : `${page} ${titleDelimiter} ${title}`;
}

export function PageMeta(props: PageMetaProps): ReactNode {
  const { title, description, path, kind = "website", isIndexed = true } = props;
  const { url } = siteConfig;
  const full = titleOf(title);
  return (
    <>
      <title>{full}</title>
      <meta name="description" content={description} />
      {!isIndexed && <meta name="robots" content="noindex" />}
      {isIndexed && url !== null && <link rel="canonical" href={url + path} />}
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:type" content={kind} />
      <meta property="og:site_name" content={siteConfig.title} />
      {url !== null && (
        <>
          <meta property="og:url" content={url + path} />
          <meta
            property="og:image"
            content={url + (isIndexed ? cardPath(path) : siteConfig.image)}
          />
          <meta name="twitter:card" content="summary_large_image" />
        </>
      )}
    </>
  );
}
