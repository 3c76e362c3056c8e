import type { ReactNode } from "react";
import { type Call, calls } from "./calls.ts";
import { CopyButton } from "./copy-button.tsx";
import "./three-calls.css";

const states = ["ready", "leased", "completed"] as const;

export function ThreeCalls(): ReactNode {
  return (
    <section className="hf-home-section" aria-labelledby="three-calls">
      <header className="hf-home-intro">
        <h2 id="three-calls">Three calls, and nothing to install in your program</h2>
        <p>Each is a POST with a JSON body. These are the requests and the replies, whole.</p>
      </header>
      <ol className="hf-calls">
        {calls.map((call) => (
          <li key={call.verb} className="hf-call">
            <Step call={call} />
            <Exchange call={call} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Step({ call }: { readonly call: Call }): ReactNode {
  return (
    <div className="hf-call-step">
      <p className="hf-call-verb">{call.verb}</p>
      <h3>{call.title}</h3>
      <p>{call.text}</p>
      <ol className="hf-call-states" aria-label="Where the item is">
        {states.map((state) => (
          <li
            key={state}
            className={`hf-call-state hf-call-${state}`}
            {...(state === call.state ? { "aria-current": "step" as const } : {})}
          >
            <i aria-hidden="true" />
            {state}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Keys are quieter than what they hold. */
function tinted(text: string): ReactNode[] {
  return text.split(/("[a-z_0-9]+")(?=:)/).map((part, index) =>
    index % 2 === 1 ? (
      <span key={`${index}${part}`} className="hf-key">
        {part}
      </span>
    ) : (
      part
    ),
  );
}

function Exchange({ call }: { readonly call: Call }): ReactNode {
  return (
    <div className="hf-exchange">
      <p className="hf-exchange-head">
        <span>{`POST /v1/queue.${call.verb}`}</span>
        <CopyButton text={call.request} label={`Copy the ${call.verb} request`} />
      </p>
      <Text label={`Request: ${call.verb}`} text={call.request} />
      <p className="hf-exchange-head hf-exchange-code">200 OK</p>
      <Text label={`Reply: ${call.verb}`} text={call.reply} />
    </div>
  );
}

function Text({ label, text }: { readonly label: string; readonly text: string }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section aria-label={label} tabIndex={0}>
      <pre>
        <code>{tinted(text)}</code>
      </pre>
    </section>
  );
}
