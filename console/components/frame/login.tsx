import { type FormEvent, type ReactNode, useState } from "react";
import { Mark } from "../../../app/brand/mark.tsx";
import { basename, serverHost } from "../../api/base-path.ts";
import { enterKey, putAway, session } from "../../api/session.ts";
import { useObserved } from "../../state/observable.ts";
import { Button } from "../button.tsx";
import { useModal } from "../dialog/use-modal.ts";

/** In the place of everything while the server asks for a key. The address stays. */
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
        It stays in this tab and goes nowhere but to this server, in the header{" "}
        <code>Authorization</code>. With a key that may only read, the console changes nothing.
      </p>
      <p className="muted">
        None yet? On the server: <code>holdfast key ops --api-keys-file ./api-keys</code>
      </p>
    </main>
  );
}

/**
 * Over a page whose key is not taken any more: what it shows and what was begun in it stay, and it
 * goes on with the next key. Put away, it leaves the page to be read; the bar has it come back.
 */
export function KeyAgain(): ReactNode {
  const dialog = useModal();
  return (
    <dialog ref={dialog} aria-labelledby="again" onClose={putAway}>
      <div className="dh">
        <h2 className="big" id="again">
          The key is no longer accepted
        </h2>
      </div>
      <div className="db">
        <p className="muted" id="kept">
          It has expired, or another is in its place. The figures are of before; with a key that is
          taken the page goes on where it was.
        </p>
        <KeyForm action="Go on">
          <Button onClick={() => dialog.current?.close()}>Only read</Button>
        </KeyForm>
      </div>
    </dialog>
  );
}

interface KeyFormProps {
  readonly action: string;
  /** What can be done instead. */
  readonly children?: ReactNode;
}

function KeyForm({ action, children }: KeyFormProps): ReactNode {
  const { refusal } = useObserved(session);
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
