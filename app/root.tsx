// The document of every page. It is rendered at build time and never hydrated.

import "./styles/index.css";

import textFont from "@fontsource/atkinson-hyperlegible-next/files/atkinson-hyperlegible-next-latin-400-normal.woff2";
import strongFont from "@fontsource/atkinson-hyperlegible-next/files/atkinson-hyperlegible-next-latin-600-normal.woff2";
import displayFont from "@fontsource/bricolage-grotesque/files/bricolage-grotesque-latin-600-normal.woff2";
import { type ReactNode, use } from "react";
import { Links, Outlet } from "react-router";
import { desktopWidthMin } from "./config/constants.ts";
import { headScript } from "./shell/head-script.ts";
import { PageAssetsContext, stylesMark } from "./shell/page-assets.ts";
import { Shell } from "./shell/shell.tsx";
import { siteConfig } from "./site-config.ts";

const { i18n, blog, title, colorMode, analytics } = siteConfig;
const locale = i18n.locales[i18n.defaultLocale];
/** The width from which the first page uses the site's typefaces. */
const wide = `(width > ${desktopWidthMin}px)`;
const feedTypes = { rss: "application/rss+xml", atom: "application/atom+xml" } as const;

export function Layout({ children }: { readonly children: ReactNode }): ReactNode {
  const { entry, reloader } = use(PageAssetsContext);
  return (
    <html
      lang={locale?.htmlLang}
      dir={locale?.direction}
      data-theme={colorMode.defaultMode}
      data-theme-choice={colorMode.defaultMode}
      data-entry={reloader === undefined ? entry : undefined}
      data-analytics={analytics === null ? undefined : JSON.stringify(analytics)}
    >
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="dark light" />
        {[displayFont, textFont, strongFont].map((font) => (
          <link key={font} rel="preload" href={font} as="font" crossOrigin="" media={wide} />
        ))}
        <script dangerouslySetInnerHTML={{ __html: headScript }} />
        {/* The first paint waits for the whole page: its last part may be beside its first. */}
        <link rel="expect" href="#site-footer" blocking="render" />
        <link rel="icon" href="/favicon.ico" sizes="32x32" />
        <link rel="icon" href={siteConfig.favicon} type="image/svg+xml" />
        <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
        {blog.feeds.map((feed) => (
          <link
            key={feed}
            rel="alternate"
            type={feedTypes[feed]}
            title={`${title} ${blog.title}`}
            href={`${blog.path}/${feed}.xml`}
          />
        ))}
        {import.meta.env.DEV ? (
          <Links />
        ) : (
          <style dangerouslySetInnerHTML={{ __html: stylesMark }} />
        )}
      </head>
      <body>
        {children}
        {reloader !== undefined && <Reloading {...{ entry, reloader }} />}
      </body>
    </html>
  );
}

/** In development, replaces the script in `<head>`. */
function Reloading({ entry, reloader }: Record<"entry" | "reloader", string>): ReactNode {
  const code = `import ${JSON.stringify(reloader)}; import(${JSON.stringify(entry)});`;
  return <script type="module" dangerouslySetInnerHTML={{ __html: code }} />;
}

export default function Root(): ReactNode {
  return (
    <Shell>
      <Outlet />
    </Shell>
  );
}
