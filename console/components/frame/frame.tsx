// What is around every page: the bar above, the bar below, and what may lie over both.

import { type ReactNode, useEffect, useLayoutEffect, useState } from "react";
import { Outlet, useNavigate } from "react-router";
import { useMay } from "../../api/query-client.ts";
import { session } from "../../api/session.ts";
import { useObserved } from "../../state/observable.ts";
import { seen, setPaused, startPoll } from "../../state/overview-poll.ts";
import { zone } from "../../state/preferences.ts";
import { standAt, startTicking } from "../../state/server-time.ts";
import { useOld } from "../../state/staleness.ts";
import { loadAhead } from "../lazy-part.tsx";
import { Jump } from "./command-palette.tsx";
import { Foot } from "./footer.tsx";
import { Header } from "./header.tsx";
import { KeyAgain, Login } from "./login.tsx";
import { isOfPage, useShortcuts } from "./shortcuts.ts";
import { KeysDialog } from "./shortcuts-dialog.tsx";

type Over = "jump" | "keys" | null;

export function Frame(): ReactNode {
  const { asksKey, isPutAway } = useObserved(session);
  const { overview } = useObserved(seen);
  useEffect(startPoll, []);
  useEffect(startTicking, []);
  useEffect(loadAhead, []);
  if (asksKey && overview === null) return <Login />;
  return (
    <>
      <Framed />
      {asksKey && !isPutAway && <KeyAgain />}
    </>
  );
}

function Framed(): ReactNode {
  const [over, setOver] = useState<Over>(null);
  const { overview, isPaused } = useObserved(seen);
  const old = useOld();
  const stoodAt = isPaused || old !== null ? (overview?.asOfMs ?? null) : null;
  useLayoutEffect(() => standAt(stoodAt), [stoodAt]);
  const mayChange = useMay("admin");
  const close = () => setOver(null);
  useFrameKeys(setOver);
  const state = old !== null ? "disconnected" : overview === null ? "loading" : "live";
  return (
    <div
      className="console"
      data-state={state}
      data-role={mayChange === null ? "unknown" : mayChange ? "admin" : "read"}
    >
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Header onJump={() => setOver("jump")} />
      <main className="page" id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <Foot onKeys={() => setOver("keys")} />
      {over === "jump" && <Jump onClose={close} />}
      {over === "keys" && <KeysDialog onClose={close} />}
    </div>
  );
}

function useFrameKeys(open: (over: Over) => void): void {
  const navigate = useNavigate();
  const go = (path: string) => () => void navigate(path);
  useShortcuts({
    "$mod+k": (event) => {
      event.preventDefault();
      if (document.querySelector("dialog[open]") === null) open("jump");
    },
    "Shift+?": () => open("keys"),
    "g q": go("/"),
    "g d": go("/dead"),
    "g s": go("/shards"),
    "g k": go("/keys"),
    u: () => zone.set(zone.get() === "utc" ? "local" : "utc"),
    Space: (event) => {
      if (!isOfPage(event)) return;
      event.preventDefault();
      setPaused(!seen.get().isPaused);
    },
  });
}
