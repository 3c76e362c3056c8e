import { type ReactNode, useState } from "react";
import { ask, type Call, curlOf } from "../call.ts";
import { pollNow } from "../overview-poll.ts";
import { Button } from "../parts/button.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { Refusal } from "../parts/refusal.tsx";
import { prefix, serverHost } from "../place.ts";
import { useMay } from "../queries.ts";
import { say } from "../said.ts";
import { type FirstStep, firstSteps } from "./first-calls.ts";

/** What there is to do where there is no queue yet. */
export function NoQueues(): ReactNode {
  const mayChange = useMay("admin");
  const [failure, setFailure] = useState<unknown>(null);
  const begin = async () => {
    const [create, produce] = firstSteps;
    try {
      for (const step of [create, produce]) if (step) await run(step.call);
      say("created orders, produced 1 item");
      pollNow();
    } catch (cause) {
      setFailure(cause);
    }
  };
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
        Copy them into a shell, one after the other
        {mayChange ? ", or begin here:" : ", with a key that may."}
      </p>
      <div className="acts">
        {mayChange && (
          <Button look="go" onClick={() => void begin()}>
            Create orders and produce one
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
      <Refusal of={failure} />
      <ol className="three">
        {firstSteps.map((step) => (
          <Step key={step.verb} step={step} />
        ))}
      </ol>
    </>
  );
}

/** Each by its own type, which a union of calls hides. */
function run({ id, body }: FirstStep["call"]): Promise<unknown> {
  return ask(id, body as Call<typeof id>["body"]);
}

function Step({ step: { verb, title, meaning, call } }: { readonly step: FirstStep }): ReactNode {
  const text = curlOf(call);
  return (
    <li>
      <p className="verb">{verb}</p>
      <h2>{title}</h2>
      <p className="muted">{meaning}</p>
      <div className="ex">
        <header>
          <span className="cut">{text.split("\n")[0]?.replace(/^curl -s '|' \\$/g, "")}</span>
          <span className="end" />
          <CopyButton text={text} />
        </header>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may be wider than its place. */}
        <pre tabIndex={0}>{text}</pre>
      </div>
    </li>
  );
}

function CopyButton({ text }: { readonly text: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  // Only where the page came over TLS, or from this machine.
  if (!("clipboard" in navigator)) return null;
  return (
    <Button
      look="small"
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      {isCopied ? "Copied" : "Copy"}
    </Button>
  );
}
