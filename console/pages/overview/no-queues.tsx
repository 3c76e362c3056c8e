import type { ReactNode } from "react";
import { basePath } from "../../api/base-path.ts";
import { type Call, curlOf } from "../../api/call.ts";
import { isForAll, queuesOf, useMay, useWhoAmI } from "../../api/permissions.ts";
import { Button } from "../../components/button.tsx";
import { copyCall } from "../../components/copy.ts";
import { Empty } from "../../components/empty.tsx";
import { PageHead } from "../../components/frame/page-head.tsx";
import { ShellText } from "../../components/shell-text.tsx";

interface Step {
  readonly verb: string;
  readonly title: string;
  readonly meaning: string;
  readonly call: Call;
}

const of = { queue_name: "orders" };
const item = { kind: "order", utf8: "two anchors" };

const steps: readonly Step[] = [
  {
    verb: "create",
    title: "A queue",
    meaning: "It exists once the answer is 200.",
    call: {
      id: "createQueue",
      body: { ...of, lease_timeout: "60m", expire_timeout: "24h" },
    },
  },
  {
    verb: "produce",
    title: "An item",
    meaning: "It is on disk before the answer is sent.",
    call: { id: "produce", body: { ...of, request_timeout: "5m", items: [item] } },
  },
  {
    verb: "lease",
    title: "Hold it",
    meaning: "It is leased to you for 60 minutes.",
    call: {
      id: "lease",
      body: { ...of, client_id: "shell", request_timeout: "1m", batch_size: 1 },
    },
  },
];

/** The page of a server without queues, or of a key that may see none. */
export function NoQueues({ onCreate }: { readonly onCreate: () => void }): ReactNode {
  const me = useWhoAmI();
  const mayChange = useMay("admin");
  if (me !== undefined && !isForAll(me, "read")) {
    return (
      <>
        <PageHead title="This key has no access to any queue" className="head first" />
        <Empty glyph="note">
          It sees queues called <code>{queuesOf(me, "read").join(", ")}</code>, and there is none.
        </Empty>
      </>
    );
  }
  return (
    <>
      <PageHead title="No queue yet" className="head first" />
      <p className="muted lead">
        Create one here, or run these three calls in a shell, one after the other.
      </p>
      <div className="acts">
        {mayChange && (
          <Button look="go" onClick={onCreate}>
            Create queue
          </Button>
        )}
        {basePath === "" && (
          <a className="b" href="/docs/quick-start">
            Quick start
          </a>
        )}
        <span className="muted">
          To restore items, run <code>holdfast import</code>.
        </span>
      </div>
      <ol className="three">
        {steps.map(({ verb, title, meaning, call }) => (
          <li key={verb}>
            <p className="verb">{verb}</p>
            <h2>{title}</h2>
            <p className="muted">{meaning}</p>
            <ShellText label={`The call: ${verb}`} text={curlOf(call)} />
            <Button look="link" onClick={() => copyCall(call)}>
              Copy <span className="vh">{verb}</span>
            </Button>
          </li>
        ))}
      </ol>
    </>
  );
}
