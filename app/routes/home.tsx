import type { ReactNode } from "react";
import { HomePage } from "../home/home-page.tsx";
import { PageMeta } from "../shell/page-meta.tsx";
import { siteConfig } from "../site-config.ts";

export default function Home(): ReactNode {
  return (
    <main id="main" tabIndex={-1}>
      <PageMeta title={siteConfig.title} description={siteConfig.description} path="/" />
      <HomePage />
    </main>
  );
}
