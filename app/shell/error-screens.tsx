// What a reader sees when a page breaks, or when its code cannot be had.

import type { ReactNode } from "react";
import { isChunkError } from "./chunk-error.ts";
import { PageMeta } from "./page-meta.tsx";

interface ErrorScreenProps {
  readonly error: unknown;
  readonly retry: () => void;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function ErrorPage({ error, retry }: ErrorScreenProps): ReactNode {
  const isChunk = isChunkError(error);
  const title = isChunk ? "A part of this page could not be loaded." : "This page crashed.";
  return (
    <main id="main" tabIndex={-1}>
      <PageMeta title={title} description={title} path="/404" isIndexed={false} />
      <Screen
        title={title}
        text={textOf(error)}
        action={isChunk ? "Retry" : "Try again"}
        // A module that failed once is not asked for again by the same document.
        onAction={isChunk ? () => location.reload() : retry}
      />
    </main>
  );
}

interface ScreenProps {
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly onAction: () => void;
}

function Screen({ title, text, action, onAction }: ScreenProps): ReactNode {
  return (
    <div className="error-screen" role="alert">
      <h1>{title}</h1>
      <pre>{text}</pre>
      <button type="button" className="button" onClick={onAction}>
        {action}
      </button>
    </div>
  );
}
