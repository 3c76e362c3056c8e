import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ask, type Call, curlOf } from "../../api/call.ts";
import { Button } from "../../components/button.tsx";
import { Refusal } from "../../components/refusal.tsx";
import { ShellText } from "../../components/shell-text.tsx";
import { pollNow } from "../../state/overview-poll.ts";
import { useCopied } from "./copied.ts";
import type { FirstStep } from "./first-calls.ts";

interface FirstStepProps {
  readonly step: FirstStep;
  readonly mayRun: boolean;
  readonly onBegun: () => void;
}

/** Each by its own type, which a union of calls hides. */
function run({ id, body }: FirstStep["call"]): Promise<unknown> {
  return ask(id, body as Call<typeof id>["body"]);
}

/** One of the calls, and what was answered when it was made here. */
export function FirstStepView({ step, mayRun, onBegun }: FirstStepProps): ReactNode {
  const { verb, title, meaning, call } = step;
  const text = curlOf(call);
  const { copy, isCopied } = useCopied(call);
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () => run(call),
    onMutate: onBegun,
    onSettled: pollNow,
  });
  return (
    <li>
      <p className="verb">{verb}</p>
      <h2>{title}</h2>
      <p className="muted">{meaning}</p>
      <div className="ex">
        <header>
          <span className="cut grow">POST {/\/v1\/[\w.]+/.exec(text)?.[0]}</span>
          {copy && (
            <Button look="small" onClick={copy}>
              {isCopied ? "Copied" : "Copy"}
            </Button>
          )}
          {mayRun && (
            <Button look="small" disabled={isPending} onClick={() => mutate()}>
              Run <span className="vh">{verb}</span>
            </Button>
          )}
        </header>
        <ShellText label={`The call: ${verb}`} text={text} />
        <div role="status">
          {data !== undefined && (
            <ShellText
              label={`The answer: ${verb}`}
              text={`200\n${JSON.stringify(data, null, 2)}`}
            />
          )}
        </div>
        <Refusal of={error} />
      </div>
    </li>
  );
}
