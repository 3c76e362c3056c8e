import { Fragment, type ReactNode } from "react";
import { Button } from "../../components/button.tsx";
import { Countdown } from "../../components/figures.tsx";
import { StateGlyph } from "../../components/glyph.tsx";
import { Fault } from "../../components/refusal.tsx";
import { spanText, unturned } from "../../format.ts";
import { useServerNow } from "../../state/server-time.ts";
import { useCopied } from "../overview/copied.ts";
import type { QueueState } from "./queue-state.ts";
import { comingOf, findingsOf, findingWord, sentenceOf } from "./status-sentence.ts";

export function Why({ state }: { readonly state: QueueState }): ReactNode {
  const { explain, clients, row, rates, name } = state;
  const { copy, isCopied } = useCopied({ id: "explain", body: { queue_name: name } });
  // The sentence is of both.
  if (explain.data !== undefined && clients.isPending) return <WhyGhost />;
  if (explain.data === undefined) {
    if (explain.error === null) return <WhyGhost />;
    return (
      <Fault of={explain.error} what="Why is not known." onRetry={() => void explain.refetch()} />
    );
  }
  const sources = { explain: explain.data, clients: clients.data, row, rates };
  const { paused, others } = findingsOf(explain.data);
  const { look, glyph } = findingWord(others[0]?.what ?? explain.data.health);
  const { lead, text } = sentenceOf(sources);
  return (
    <section className={`why h-${look}`} aria-label="Why">
      <StateGlyph name={glyph} />
      <div>
        {paused && (
          <p>
            <b>Paused.</b> {unturned(paused.text)}
            <Since since={paused.since} />
          </p>
        )}
        {lead !== "" && (
          <p>
            <b>{lead}</b> {unturned(text)}
          </p>
        )}
        <p className="next">
          <Coming sources={sources} />
          <Since since={others[0]?.since} />
        </p>
      </div>
      {copy && (
        <Button look="small" onClick={copy} title="Copies the call queue.explain for a shell">
          {isCopied ? "Copied" : "as curl"}
        </Button>
      )}
    </section>
  );
}

function WhyGhost(): ReactNode {
  return (
    <section className="why h-ok" aria-label="Why" aria-busy="true">
      <StateGlyph name="idle" />
      <div className="ghost-lines">
        <p>
          <i />
        </p>
        <p className="next">
          <i />
        </p>
      </div>
    </section>
  );
}

function Coming({ sources }: { readonly sources: Parameters<typeof comingOf>[0] }): ReactNode {
  const coming = comingOf(sources, useServerNow());
  if (coming.length === 0) return "Time alone changes nothing.";
  return (
    <>
      {"Next to happen: "}
      {coming.map(({ what, atMs }, index) => (
        <Fragment key={what}>
          {index > 0 && "; "}
          {what} in <Countdown at={atMs} />
        </Fragment>
      ))}
      .
    </>
  );
}

function Since({ since }: { readonly since: string | undefined }): ReactNode {
  const now = useServerNow();
  if (since === undefined) return null;
  return ` It has been so for ${spanText(now - Date.parse(since))}.`;
}
