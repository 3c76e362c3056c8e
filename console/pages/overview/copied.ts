import { useState } from "react";
import { type Call, curlOf } from "../../api/call.ts";
import { say } from "../../state/toast.ts";

/** `copy` is `null` where the page may not write to the clipboard. */
export function useCopied(call: Call) {
  const [isCopied, setCopied] = useState(false);
  const canCopy = typeof navigator !== "undefined" && "clipboard" in navigator;
  const copy = () => {
    void navigator.clipboard.writeText(curlOf(call)).then(
      () => setCopied(true),
      () => say("the browser lets nothing be copied", 403),
    );
  };
  return { copy: canCopy ? copy : null, isCopied };
}
