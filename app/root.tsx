// The document around every page, and the shell within it, in the specification's
// order: skip link, announcement, navigation bar, content, footer.

import textFont from "@fontsource/atkinson-hyperlegible-next/files/atkinson-hyperlegible-next-latin-400-normal.woff2";
import displayFont from "@fontsource/bricolage-grotesque/files/bricolage-grotesque-latin-600-normal.woff2";
import { type ReactNode, ViewTransition } from "react";
import {
  Outlet,
  Scripts,
  ScrollRestoration,
  useLocation,
  useNavigate,
  useRouteError,
} from "react-router";
import { ErrorFrame } from "./shell/error-frame.tsx";
import { ErrorPage } from "./shell/error-screens.tsx";
import { headScript } from "./shell/head-script.ts";
import { PageStyles } from "./shell/page-styles.tsx";
import { pageTransition } from "./shell/page-transition.ts";
import { Shell } from "./shell/shell.tsx";
import { usePathname } from "./shell/use-pathname.ts";
import { siteConfig } from "./site-config.ts";
import "./styles/index.css";

const { i18n, blog, title } = siteConfig;
const locale = i18n.locales[i18n.defaultLocale];
/** In the browser the page has been started; what starts it would only be code there. */
const isRendered = import.meta.env.SSR || import.meta.env.DEV;
const feedTypes = { rss: "application/rss+xml", atom: "application/atom+xml" } as const;

export function Layout({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <html
      lang={locale?.htmlLang}
      dir={locale?.direction}
      data-theme={siteConfig.colorMode.defaultMode}
      suppressHydrationWarning
    >
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="dark light" />
        <script dangerouslySetInnerHTML={{ __html: headScript }} suppressHydrationWarning />
        <RenderWhole />
        <link rel="preload" href={displayFont} as="font" crossOrigin="" />
        <link rel="preload" href={textFont} as="font" crossOrigin="" />
        <link rel="icon" href={siteConfig.favicon} type="image/svg+xml" />
        {blog.feeds.map((feed) => (
          <link
            key={feed}
            rel="alternate"
            type={feedTypes[feed]}
            title={`${title} ${blog.title}`}
            href={`${blog.path}/${feed}.xml`}
          />
        ))}
        <PageStyles />
      </head>
      <body>
        {children}
        <ScrollRestoration />
        {isRendered && <Scripts />}
      </body>
    </html>
  );
}

/**
 * Has the browser wait with the first paint until all that is in the first window is there: what
 * it reads last may stand beside what it reads first. Of the API's page that is its introduction.
 */
function RenderWhole(): ReactNode {
  const isApi = usePathname() === "/api";
  return <link rel="expect" href={isApi ? "#produce" : "#site-footer"} blocking="render" />;
}

export default function Root(): ReactNode {
  return (
    <Framed>
      <PageFrame>
        <ViewTransition default={pageTransition()}>
          <Outlet />
        </ViewTransition>
      </PageFrame>
    </Framed>
  );
}

/** What the router throws; what a page throws is caught by its frame. */
export function ErrorBoundary(): ReactNode {
  const error = useRouteError();
  const navigate = useNavigate();
  return (
    <Framed>
      <ErrorPage error={error} retry={() => void navigate(".", { replace: true })} />
    </Framed>
  );
}

/** The shell; if it breaks itself, its reader is told without it. */
function Framed({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <ErrorFrame fallback={(error, retry) => <ErrorPage error={error} retry={retry} />}>
      <Shell>{children}</Shell>
    </ErrorFrame>
  );
}

function PageFrame({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <ErrorFrame
      place={useLocation().key}
      fallback={(error, retry) => <ErrorPage error={error} retry={retry} />}
    >
      {children}
    </ErrorFrame>
  );
}

export function HydrateFallback(): ReactNode {
  return <main id="main" aria-busy="true" />;
}
