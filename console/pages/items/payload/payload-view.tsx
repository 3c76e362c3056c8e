import { type KeyboardEvent, type ReactNode, useId, useMemo, useState } from "react";
import { Button } from "../../../components/button.tsx";
import { lazyPart } from "../../../components/lazy-part.tsx";
import { bytesText, countText } from "../../../format.ts";
import { hexDump, type Read, readPayload, shownMax } from "./payload.ts";

const payloadTree = lazyPart<{ readonly root: object }>({ name: "The tree" }, () =>
  import("./payload-tree.tsx").then((file) => file.PayloadTree),
);

const ways = ["tree", "text", "hex", "base64"] as const;
type Way = (typeof ways)[number];

interface PayloadViewProps {
  readonly id: string;
  /** Base64. */
  readonly payload: string;
  readonly encoding: string;
}

export function PayloadView({ id, payload, encoding }: PayloadViewProps): ReactNode {
  const read = useMemo(() => readPayload(payload), [payload]);
  const { bytes, isUtf8, tree } = read;
  const [chosen, setChosen] = useState<Way | null>(null);
  const panel = useId();
  const there = ways.filter((way) => way !== "tree" || tree.what === "tree");
  const way = chosen ?? (tree.what === "tree" ? "tree" : isUtf8 ? "text" : "hex");
  const kind = tree.what === "tree" ? "JSON" : isUtf8 ? "text" : "bytes that are no UTF-8";
  return (
    <section aria-label="Payload">
      <div className="ph">
        <h2>payload</h2>
        <span className="muted cut">
          {encoding || kind},{" "}
          {bytes.length < 10_000 ? `${countText(bytes.length)} B` : bytesText(bytes.length)}
        </span>
        <Ways there={there} way={way} panel={panel} onChoose={setChosen} />
      </div>
      {tree.what === "none" && tree.why !== "" && <p className="muted note">{tree.why}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys. */}
      <div className="code" id={panel} role="tabpanel" tabIndex={0} aria-label={`Payload: ${way}`}>
        {bytes.length === 0 ? (
          <span className="muted">It has no bytes.</span>
        ) : (
          <>
            {way === "tree" && tree.what === "tree" && <payloadTree.Component root={tree.root} />}
            {way === "text" && <PlainText read={read} />}
            {way === "hex" && <pre className="hex">{hexDump(bytes)}</pre>}
            {way === "base64" && <pre className="whole">{payload.slice(0, shownMax)}</pre>}
          </>
        )}
      </div>
      <Button look="link" onClick={() => download(bytes, id)}>
        Download
      </Button>
      {way !== "tree" && bytes.length > shownMax && (
        <span className="muted"> All of it: only the first {bytesText(shownMax)} are shown.</span>
      )}
    </section>
  );
}

function PlainText({ read: { plain, isUtf8 } }: { readonly read: Read }): ReactNode {
  return (
    <>
      {!isUtf8 && <p className="muted note">It is not UTF-8: � marks the bytes that are not.</p>}
      {plain.hasControls && <p className="muted note">Control characters are shown as signs.</p>}
      <pre className="whole">{plain.text}</pre>
    </>
  );
}

interface WaysProps {
  readonly there: readonly Way[];
  readonly way: Way;
  readonly panel: string;
  readonly onChoose: (way: Way) => void;
}

function Ways({ there, way, panel, onChoose }: WaysProps): ReactNode {
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const next = there[(there.indexOf(way) + by + there.length) % there.length];
    if (next === undefined) return;
    onChoose(next);
    event.currentTarget.querySelector<HTMLElement>(`[data-way=${next}]`)?.focus();
  };
  return (
    <span className="seg end" role="tablist" aria-label="Show the payload as" onKeyDown={onKeyDown}>
      {there.map((one) => (
        <button
          key={one}
          type="button"
          role="tab"
          data-way={one}
          aria-selected={one === way}
          aria-controls={panel}
          tabIndex={one === way ? 0 : -1}
          onClick={() => onChoose(one)}
        >
          {one}
        </button>
      ))}
    </span>
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
