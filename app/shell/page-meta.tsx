// Title, description, canonical address and card of a page. React moves them to <head>.

import type { ReactNode } from "react";
import { siteConfig } from "../site-config.ts";
import { cardPath } from "./card-path.ts";

interface PageMetaProps {
  readonly title: string;
  readonly description: string;
  /** Path of the page's one address. */
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
  const address = siteConfig.url + path;
  const full = titleOf(title);
  return (
    <>
      <title>{full}</title>
      <meta name="description" content={description} />
      {isIndexed ? (
        <link rel="canonical" href={address} />
      ) : (
        <meta name="robots" content="noindex" />
      )}
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:type" content={kind} />
      <meta property="og:url" content={address} />
      <meta property="og:site_name" content={siteConfig.title} />
      <meta
        property="og:image"
        content={siteConfig.url + (isIndexed ? cardPath(path) : siteConfig.image)}
      />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  );
}
