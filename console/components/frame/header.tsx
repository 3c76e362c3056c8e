import { type ReactNode, useState } from "react";
import { Link, NavLink, useLocation } from "react-router";
import { Mark } from "../../../app/brand/mark.tsx";
import { pages } from "../../addresses.ts";
import { basePath, serverHost } from "../../api/base-path.ts";
import { mayOnlyRead, useWhoAmI } from "../../api/permissions.ts";
import { useOverview } from "../../state/overview-poll.ts";
import { useStaleness } from "../../state/staleness.ts";
import { toggleTheme } from "../../state/theme.ts";
import { Icon } from "../glyph/glyph.tsx";
import { paletteKey } from "./shortcuts.ts";
import { StalenessNotice } from "./staleness-notice.tsx";

interface HeaderProps {
  readonly onPalette: () => void;
}

export function Header({ onPalette }: HeaderProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  const overview = useOverview();
  const staleness = useStaleness();
  const me = useWhoAmI();
  const here = pages.find(({ path }) => path === pathname)?.title ?? "Queues";
  return (
    <header className="top">
      <Link className="brand" to="/" aria-label="Holdfast console">
        <Mark size={20} />
        <span>Holdfast</span>
      </Link>
      <button
        type="button"
        className="here"
        aria-expanded={isOpen}
        aria-controls="pages"
        onClick={() => setOpen(!isOpen)}
      >
        {here} <Icon name="down" />
      </button>
      <Pages isOpen={isOpen} onChosen={() => setOpen(false)} />
      {/* After what has its place: the server says its name later. */}
      <span className="server cut">{overview?.machine.name || serverHost}</span>
      <span className="end" />
      {me !== undefined && mayOnlyRead(me) && staleness === null && (
        <span className="muted wide-only">this key can only read</span>
      )}
      {staleness === null ? (
        <PaletteButton onPalette={onPalette} />
      ) : (
        <StalenessNotice staleness={staleness} />
      )}
      {/* Below a base path the server serves no documentation. */}
      {basePath === "" && (
        <a className="docs muted" href="/docs">
          Docs
        </a>
      )}
      <button type="button" className="ib" aria-label="Light or dark" onClick={toggleTheme}>
        <Icon name="theme" />
      </button>
    </header>
  );
}

interface PagesProps {
  readonly isOpen: boolean;
  readonly onChosen: () => void;
}

function Pages({ isOpen, onChosen }: PagesProps): ReactNode {
  const overview = useOverview();
  const dead = overview?.alarms.filter(({ kind }) => kind === "dead_items").length ?? 0;
  return (
    <nav className={isOpen ? "nav open" : "nav"} id="pages" aria-label="Console">
      {pages.map(({ id, path, title }) => (
        <NavLink key={id} to={path} end onClick={onChosen}>
          {title}
          {id === "dead" && dead > 0 && <small title="queues whose items die">{dead}</small>}
        </NavLink>
      ))}
    </nav>
  );
}

function PaletteButton({ onPalette }: HeaderProps): ReactNode {
  return (
    <button type="button" className="jump" onClick={onPalette}>
      <Icon name="search" />
      <b className="vh">Go to</b>
      <span>Queue, item id, page</span>
      <kbd className="end">{paletteKey}</kbd>
    </button>
  );
}
