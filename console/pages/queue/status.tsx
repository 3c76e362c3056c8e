import { Fragment, type ReactNode } from "react";
import { Button } from "../../components/button.tsx";
import { copyCall } from "../../components/copy.ts";
import { Countdown } from "../../components/figures.tsx";
import { StateGlyph } from "../../components/glyph/glyph.tsx";
import { QueryFault } from "../../components/refusal.tsx";
import { spanText, withVisibleMarks } from "../../format.ts";
import { useServerNow } from "../../state/server-time.ts";
import type { QueueState } from "./queue-state.ts";
import { comingOf, findingsOf, findingWord, sentenceOf } from "./status-sentence.ts";

export function Status({ state }: { readonly state: QueueState }): ReactNode {
  const { explain, clients, row, rates, name } = state;
  // The sentence needs both.
  if (explain.data !== undefined && clients.isPending) return <StatusGhost />;
  if (explain.data === undefined) {
    if (explain.error === null) return <StatusGhost />;
    return <QueryFault of={explain} what="The status is not known." />;
  }
  const sources = { explain: explain.data, clients: clients.data, row, rates };
  const { paused, others } = findingsOf(explain.data);
  const { tone, glyph } = findingWord(others[0]?.kind ?? explain.data.health);
  const { lead, text } = sentenceOf(sources);
  return (
    <section className={`why h-${tone}`} aria-label="Why">
      <StateGlyph name={glyph} />
      <div>
        {paused && (
          <p>
            <b>Paused.</b> {withVisibleMarks(paused.text)}
            <Since since={paused.since} />
          </p>
        )}
        {lead !== "" && (
          <p>
            <b>{lead}</b> {withVisibleMarks(text)}
          </p>
        )}
        <p className="next">
          <Coming sources={sources} />
          <Since since={others[0]?.since} />
        </p>
      </div>
      <Button
        look="small"
        onClick={() => copyCall({ id: "explain", body: { queue_name: name } })}
        title="Copies the call queue.explain for a shell"
      >
        as curl
      </Button>
    </section>
  );
}

function StatusGhost(): ReactNode {
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
  return ` This has lasted for ${spanText(now - Date.parse(since))}.`;
}
