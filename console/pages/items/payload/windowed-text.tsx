import { type ReactNode, useState } from "react";
import { Button } from "../../../components/button.tsx";
import { countText } from "../../../format.ts";

const windowChars = 65_536;

/** A long text, a part of it at a time: none of it is left out, and no page has all of it at once. */
export function WindowedText({ text }: { readonly text: string }): ReactNode {
  const [at, setAt] = useState(0);
  const last = Math.max(0, Math.ceil(text.length / windowChars) - 1);
  const edge = (part: number) => {
    const place = Math.min(text.length, part * windowChars);
    // Two halves of one character stay together.
    const code = text.charCodeAt(place);
    return code >= 0xdc00 && code <= 0xdfff ? place + 1 : place;
  };
  return (
    <>
      <pre className="whole">{text.slice(edge(at), edge(at + 1))}</pre>
      {last > 0 && (
        <p className="parts">
          <Button look="small" disabled={at === 0} onClick={() => setAt(at - 1)}>
            Part before
          </Button>
          <span>
            part {countText(at + 1)} of {countText(last + 1)}
          </span>
          <Button look="small" disabled={at === last} onClick={() => setAt(at + 1)}>
            Part after
          </Button>
        </p>
      )}
    </>
  );
}
