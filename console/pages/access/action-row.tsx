import type { ReactNode } from "react";
import type { Action } from "../../../openapi/schemas.ts";
import { clockText, instantText, itemsText } from "../../format.ts";
import { useObserved } from "../../state/observable.ts";
import { zone } from "../../state/preferences.ts";
import { useServerNow } from "../../state/server-time.ts";
import { doneText } from "./action-words.ts";

const dayMs = 86_400_000;

/** One action, where its queue is known from what is around it. */
export function ActionRow({ action }: { readonly action: Action }): ReactNode {
  return (
    <tr>
      <td>
        <Outcome action={action} />
      </td>
      <td className="muted cut">{action.key_name || "no key"}</td>
      <td className="n muted">
        <At at={action.at} />
      </td>
    </tr>
  );
}

export function Outcome({ action }: { readonly action: Action }): ReactNode {
  const { code, operation, items } = action;
  return (
    <>
      <span className={code === 200 ? "ok mono" : "bad mono"}>{code}</span>{" "}
      {code === 200 ? doneText(operation) : `${operation} refused`}
      {items > 0 && `, ${itemsText(items)}`}
    </>
  );
}

export function At({ at }: { readonly at: string }): ReactNode {
  const told = useObserved(zone);
  const ms = Date.parse(at);
  const isOfToday = useServerNow() - ms < dayMs;
  return (
    <time dateTime={at} title={instantText(ms, told)}>
      {isOfToday ? clockText(ms, told) : instantText(ms, told).slice(0, 16)}
    </time>
  );
}
