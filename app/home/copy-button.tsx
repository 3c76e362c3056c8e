import { type ReactNode, useEffect, useState } from "react";

const copiedMs = 1_600;

/** Copies a text. It shows once there is a script that can. */
export function CopyButton({
  text,
  label,
}: {
  readonly text: string;
  readonly label: string;
}): ReactNode {
  const [isReady, setReady] = useState(false);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => setReady(navigator.clipboard !== undefined), []);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <button
      type="button"
      className="hf-copy"
      data-ready={isReady}
      disabled={!isReady}
      aria-label={isCopied ? "Copied" : label}
      onClick={copy}
    >
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}
