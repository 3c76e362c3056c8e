import { type FormEvent, type ReactNode, useState } from "react";
import { Mark } from "../../../app/brand/mark.tsx";
import { basename, serverHost } from "../../api/base-path.ts";
import { dismissLogin, enterKey, session } from "../../api/session.ts";
import { useObservable } from "../../state/observable.ts";
import { Button } from "../button.tsx";
import { useModal } from "../dialog/use-modal.ts";

/** Replaces the page while the server requires a key. The address stays. */
export function Login(): ReactNode {
  return (
    <main className="login" id="main">
      <a className="brand" href={basename}>
        <Mark size={22} />
        Holdfast <span className="server">{serverHost}</span>
      </a>
      <h1>This server requires an API key</h1>
      <KeyForm action="Open the console" />
      <p className="muted" id="kept">
        It stays in this tab and is sent to this server only, in the header{" "}
        <code>Authorization</code>. With a read-only key the console changes nothing.
      </p>
      <p className="muted">
        None yet? On the server: <code>holdfast key ops --api-keys-file ./api-keys</code>
      </p>
    </main>
  );
}

/**
 * A dialog over a page whose key is no longer accepted: content and open dialogs stay, and the page
 * continues with the next key. Dismissed, it leaves the page readable; the header reopens it.
 */
export function KeyAgain(): ReactNode {
  const dialog = useModal();
  return (
    <dialog ref={dialog} aria-labelledby="again" onClose={dismissLogin}>
      <div className="dh">
        <h2 className="big" id="again">
          The key is no longer accepted
        </h2>
      </div>
      <div className="db">
        <p className="muted" id="kept">
          It has expired, or was replaced. The figures are from before; with a valid key the page
          continues where it was.
        </p>
        <KeyForm action="Continue">
          <Button onClick={() => dialog.current?.close()}>Only read</Button>
        </KeyForm>
      </div>
    </dialog>
  );
}

interface KeyFormProps {
  readonly action: string;
  /** The alternative. */
  readonly children?: ReactNode;
}

function KeyForm({ action, children }: KeyFormProps): ReactNode {
  const { refusal } = useObservable(session);
  const [key, setKey] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() !== "") enterKey(key.trim());
  };
  return (
    <form className="enter" onSubmit={submit}>
      <span className="grip">
        <label>
          <span className="vh">API key</span>
          <input
            type="password"
            name="key"
            placeholder="holdfast_…"
            autoComplete="current-password"
            spellCheck={false}
            aria-describedby="kept"
            value={key}
            onChange={({ target }) => setKey(target.value)}
          />
        </label>
      </span>
      <p className="why-not" role="alert">
        {refusal && (
          <>
            <b className="bad mono">{refusal.code}</b>{" "}
            {refusal.code === 401 ? "It is not one of this server's keys." : refusal.message}
          </>
        )}
      </p>
      <span className="acts">
        <Button look="go" type="submit">
          {action}
        </Button>
        {children}
      </span>
    </form>
  );
}
