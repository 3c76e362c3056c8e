// The frame of every page: header, footer, and the dialogs over both.

import { type ReactNode, useEffect, useLayoutEffect, useState } from "react";
import { Outlet, useNavigate } from "react-router";
import { useMay } from "../../api/permissions.ts";
import { session } from "../../api/session.ts";
import { useObservable } from "../../state/observable.ts";
import {
  pollState,
  setPaused,
  startPoll,
  useOverview,
  usePoll,
} from "../../state/overview-poll.ts";
import { toggleZone } from "../../state/preferences.ts";
import { freezeAt, startTicking } from "../../state/server-time.ts";
import { useStaleness } from "../../state/staleness.ts";
import { loadAhead } from "../lazy-part.tsx";
import { CommandPalette } from "./command-palette.tsx";
import { Footer } from "./footer.tsx";
import { Header } from "./header.tsx";
import { KeyAgain, Login } from "./login.tsx";
import { isOfPage, useShortcuts } from "./shortcuts.ts";
import { ShortcutsDialog } from "./shortcuts-dialog.tsx";

type OpenDialog = "palette" | "keys" | null;

export function Frame(): ReactNode {
  const { needsKey, isDismissed } = useObservable(session);
  const overview = useOverview();
  useEffect(startPoll, []);
  useEffect(startTicking, []);
  useEffect(loadAhead, []);
  if (needsKey && overview === null) return <Login />;
  return (
    <>
      <Framed />
      {needsKey && !isDismissed && <KeyAgain />}
    </>
  );
}

function Framed(): ReactNode {
  const [over, setOver] = useState<OpenDialog>(null);
  const { overview, isPaused } = usePoll();
  const staleness = useStaleness();
  const frozenAt = isPaused || staleness !== null ? (overview?.asOfMs ?? null) : null;
  useLayoutEffect(() => freezeAt(frozenAt), [frozenAt]);
  const mayChange = useMay("admin");
  const close = () => setOver(null);
  useFrameKeys(setOver);
  const state = staleness !== null ? "disconnected" : overview === null ? "loading" : "live";
  return (
    <div
      className="console"
      data-state={state}
      data-role={mayChange === null ? "unknown" : mayChange ? "admin" : "read"}
    >
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Header onPalette={() => setOver("palette")} />
      <main className="page" id="main" tabIndex={-1}>
        <Outlet />
      </main>
      <Footer onKeys={() => setOver("keys")} />
      {over === "palette" && <CommandPalette onClose={close} />}
      {over === "keys" && <ShortcutsDialog onClose={close} />}
    </div>
  );
}

function useFrameKeys(open: (over: OpenDialog) => void): void {
  const navigate = useNavigate();
  const go = (path: string) => () => void navigate(path);
  useShortcuts({
    "$mod+k": (event) => {
      event.preventDefault();
      if (document.querySelector("dialog[open]") === null) open("palette");
    },
    "Shift+?": () => open("keys"),
    "g q": go("/"),
    "g d": go("/dead"),
    "g s": go("/shards"),
    "g k": go("/keys"),
    u: toggleZone,
    Space: (event) => {
      if (!isOfPage(event)) return;
      event.preventDefault();
      setPaused(!pollState.get().isPaused);
    },
  });
}
