import type { ReactNode } from "react";
import { prefix, serverHost } from "../../api/base-path.ts";
import { isForAll, queuesOf } from "../../api/permissions.ts";
import { useMay, useWhoAmI } from "../../api/query-client.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { PageTitle } from "../../components/page-title.tsx";
import { firstSteps } from "./first-calls.ts";
import { FirstStepView } from "./first-step.tsx";

interface NoQueuesProps {
  /** A call was made here: the page stays for the next. */
  readonly onBegun: () => void;
  /** Absent: there is no queue to show. */
  readonly onShow: (() => void) | undefined;
}

/** What there is to do where there is no queue yet. */
export function NoQueues({ onBegun, onShow }: NoQueuesProps): ReactNode {
  const me = useWhoAmI();
  const mayChange = useMay("admin");
  if (me !== undefined && !isForAll(me, "read")) {
    return <NoneOfKey patterns={queuesOf(me, "read")} />;
  }
  return (
    <>
      <PageTitle of="No queue yet" />
      <header className="head first">
        <h1>No queue yet. Three calls make one work.</h1>
        <span className="end muted">
          They run as you, on <span className="mono">{serverHost}</span>.
        </span>
      </header>
      <p className="muted lead">
        {mayChange ? "Run them here, or copy" : "Copy"} them into a shell, one after the other
        {mayChange ? "." : ", with a key that may."}
      </p>
      <div className="acts">
        {onShow && (
          <Button look="go" onClick={onShow}>
            Show the queues
          </Button>
        )}
        {prefix === "" && (
          <a className="b" href="/docs/quick-start">
            Quick start
          </a>
        )}
        <span className="muted">
          or bring items back with <code>holdfast import</code>
        </span>
      </div>
      <ol className="three">
        {firstSteps.map((step) => (
          <FirstStepView
            key={step.verb}
            step={step}
            mayRun={mayChange === true}
            onBegun={onBegun}
          />
        ))}
      </ol>
    </>
  );
}

/** Others may be there: which, it is not told. */
function NoneOfKey({ patterns }: { readonly patterns: readonly string[] }): ReactNode {
  return (
    <>
      <PageTitle of="No queue for this key" />
      <header className="head first">
        <h1>No queue is for this key.</h1>
      </header>
      <Empty glyph="note">
        It sees queues called <code>{patterns.join(", ")}</code>, and there is none.
      </Empty>
    </>
  );
}
