import type { ReactNode } from "react";
import { useObservable } from "../../state/observable.ts";
import { singleKeys } from "../../state/preferences.ts";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog/dialog.tsx";
import { keyList } from "./shortcuts.ts";

export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const isOn = useObservable(singleKeys) === "on";
  const footer = (
    <>
      <label className="check grow">
        <input
          type="checkbox"
          checked={isOn}
          onChange={() => singleKeys.set(isOn ? "off" : "on")}
        />
        Single-key shortcuts are on
      </label>
      <Button onClick={onClose}>Close</Button>
    </>
  );
  return (
    <Dialog title="Keys" onClose={onClose} footer={footer}>
      <div className="keys">
        {keyList.map(({ keys, does }) => (
          <div key={does}>
            <span>{does}</span>
            <span>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </span>
          </div>
        ))}
      </div>
      <p className="muted">
        They do nothing while you type, and none of them changes an item without a dialog.
      </p>
    </Dialog>
  );
}
