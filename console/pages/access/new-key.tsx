import type { ReactNode } from "react";
import { ShellText } from "../../components/shell-text.tsx";

const command = `holdfast key NAME --role consume \\
  --queues 'orders*' --api-keys-file ./api-keys

holdfast serve --api-keys-file ./api-keys`;

export function NewKey(): ReactNode {
  return (
    <section className="sec new-key" aria-labelledby="new-key">
      <div className="ph">
        <h2 id="new-key">a new key is made on the server</h2>
      </div>
      <p className="muted">
        The console shows no key and makes none: what it cannot read cannot leak through it. The
        file is read again when it changes.
      </p>
      <ShellText label="Commands" text={command} />
    </section>
  );
}
