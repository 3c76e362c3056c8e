import { type ReactNode, useMemo, useState } from "react";
import { Button } from "../../../components/button.tsx";
import { lazyPart } from "../../../components/lazy-part.tsx";
import { Segments } from "../../../components/segments.tsx";
import { bytesText, countText } from "../../../format.ts";
import { hexDump, type PayloadContent, readPayload, shownMax } from "./payload.ts";

const payloadTree = lazyPart<{ readonly root: object }>({ name: "The tree" }, () =>
  import("./payload-tree.tsx").then((file) => file.PayloadTree),
);

const formats = { text: "text", hex: "hex", base64: "base64" } as const;
type PayloadFormat = keyof typeof formats | "tree";

interface PayloadViewProps {
  readonly id: string;
  /** Base64. */
  readonly payload: string;
  readonly encoding: string;
}

export function PayloadView({ id, payload, encoding }: PayloadViewProps): ReactNode {
  const read = useMemo(() => readPayload(payload), [payload]);
  const { bytes, isUtf8, tree } = read;
  const [chosen, setChosen] = useState<PayloadFormat | null>(null);
  const lengths = { tree: 0, text: read.textLength, hex: bytes.length, base64: payload.length };
  const format = chosen ?? (tree.what === "tree" ? "tree" : isUtf8 ? "text" : "hex");
  const kind = tree.what === "tree" ? "JSON" : isUtf8 ? "text" : "bytes that are not UTF-8";
  return (
    <section aria-label="Payload">
      <div className="ph">
        <h2>payload</h2>
        <span className="muted cut">
          {encoding || kind},{" "}
          {bytes.length < 10_000 ? `${countText(bytes.length)} B` : bytesText(bytes.length)}
        </span>
        <Segments
          legend="Show the payload as"
          of={tree.what === "tree" ? { tree: "tree", ...formats } : formats}
          chosen={format}
          onChoose={setChosen}
          isAtEnd
        />
      </div>
      {tree.what === "none" && tree.why !== "" && <p className="muted note">{tree.why}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys scroll it. */}
      <section className="code" tabIndex={0} aria-label={`Payload: ${format}`}>
        {bytes.length === 0 ? (
          <span className="muted">It has no bytes.</span>
        ) : (
          <>
            {format === "tree" && tree.what === "tree" && (
              <payloadTree.Component root={tree.root} />
            )}
            {format === "text" && <PlainText read={read} />}
            {format === "hex" && <pre className="hex">{hexDump(bytes)}</pre>}
            {format === "base64" && <pre className="whole">{payload.slice(0, shownMax)}</pre>}
          </>
        )}
      </section>
      <Button look="link" onClick={() => download(bytes, id)}>
        Download
      </Button>
      {lengths[format] > shownMax && <span className="muted"> Only the beginning is shown.</span>}
    </section>
  );
}

function PlainText({ read: { plain, isUtf8 } }: { readonly read: PayloadContent }): ReactNode {
  return (
    <>
      {!isUtf8 && <p className="muted note">It is not UTF-8: � marks the bytes that are not.</p>}
      {plain.hasControls && <p className="muted note">Control characters are shown as signs.</p>}
      <pre className="whole">{plain.text}</pre>
    </>
  );
}

/** With a type that no browser opens: a payload is not trusted. */
function download(bytes: Uint8Array<ArrayBuffer>, id: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${id}.bin`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
