// Tables generated from the server's own constants; each row has an anchor.

import { Fragment, type ReactNode } from "react";
import { codes, commands, limits, reasons, settings, sharedFlags } from "../facts/reference.ts";
import { SiteLink } from "../shell/site-link.tsx";
import { Table } from "./table.tsx";

/** Text that contains `code`; a --flag is code too, so it does not break at its hyphens. */
function Inline({ text }: { readonly text: string }): ReactNode {
  return text
    .split(/(`[^`]*`|--[a-z-]+)/)
    .map((part, index) =>
      index % 2 === 1 ? (
        <code key={part}>{part.replaceAll("`", "")}</code>
      ) : (
        <Fragment key={part}>{part}</Fragment>
      ),
    );
}

export function ConfigTable(): ReactNode {
  return (
    <dl className="settings rows">
      {settings.map(({ flag, env, key, values, meaning, default: standard }) => {
        const facts = {
          Takes: values,
          Default: standard === "" ? "none" : <code>{standard}</code>,
          Variable: <code>{env}</code>,
          ...(key === "" ? {} : { "Key in the file": <code>{key}</code> }),
        };
        return (
          <div className="setting" key={flag} id={flag.slice(2)}>
            <dt>
              <a href={`#${flag.slice(2)}`}>
                <code>{flag}</code>
              </a>
            </dt>
            <dd>
              <p>
                <Inline text={meaning} />
              </p>
              <dl className="setting-facts">
                {Object.entries(facts).map(([name, fact]) => (
                  <div key={name}>
                    <dt className="fine">{name}</dt>
                    <dd>{fact}</dd>
                  </div>
                ))}
              </dl>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

interface RowsProps {
  readonly head: readonly string[];
  /** An optional anchor, and the cells. */
  readonly rows: readonly (readonly [id: string | undefined, ...cells: ReactNode[]])[];
}

/** With three or more columns, a phone shows each cell after the name of its column. */
function Rows({ head, rows }: RowsProps): ReactNode {
  return (
    <Table>
      <thead>
        <tr>
          {head.map((text) => (
            <th scope="col" key={text}>
              {text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([id, ...cells], row) => (
          <tr key={row} id={id}>
            {cells.map((cell, at) => (
              <td key={head[at]} data-label={at > 0 && head.length > 2 ? head[at] : undefined}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

export function LimitsTable(): ReactNode {
  const rows = limits.map(
    ({ id, what, value }) => [`limit-${id}`, <Inline key={id} text={what} />, value] as const,
  );
  return <Rows head={["Limit", "Value"]} rows={rows} />;
}

export function CodesTable(): ReactNode {
  const rows = codes.map(({ code, text, meaning, reaction }) => {
    const name = (
      <>
        <SiteLink to={`/docs/errors/${code}`}>
          <strong className="figure">{code}</strong>
        </SiteLink>
        <br />
        <code>{text}</code>
      </>
    );
    const [means, does] = [meaning, reaction].map((one) => <Inline key={one} text={one} />);
    return [`code-${code}`, name, means, does] as const;
  });
  return <Rows head={["Code", "It means", "What to do"]} rows={rows} />;
}

export function ReasonsTable(): ReactNode {
  const rows = reasons.map(({ reason, codes: its, meaning }) => {
    const name = (
      <SiteLink to={`/docs/errors/${its.split(", ")[0]}#${reason}`}>
        <code>{reason}</code>
      </SiteLink>
    );
    return [`reason-${reason}`, name, its, <Inline key={reason} text={meaning} />] as const;
  });
  return <Rows head={["Reason", "Code", "It means"]} rows={rows} />;
}

function rowOf<Row, Key extends keyof Row>(rows: readonly Row[], key: Key, value: Row[Key]): Row {
  const row = rows.find((one) => one[key] === value);
  if (row === undefined)
    throw new Error(`no row of the reference has the ${String(key)} '${value}'`);
  return row;
}

/** The remedy for a code; its page begins with the meaning. */
export function Code({ code }: { readonly code: string }): ReactNode {
  const { reaction } = rowOf(codes, "code", code);
  return (
    <p>
      <strong>What to do:</strong> <Inline text={reaction} />
    </p>
  );
}

export function Reason({ name }: { readonly name: string }): ReactNode {
  const { meaning } = rowOf(reasons, "reason", name);
  return (
    <p>
      <Inline text={meaning} />
    </p>
  );
}

function Words({ words }: { readonly words: typeof sharedFlags }): ReactNode {
  const rows = words.map(
    ({ word, meaning }) => [undefined, <code key={word}>{word}</code>, meaning] as const,
  );
  return <Rows head={["Argument or flag", "Meaning"]} rows={rows} />;
}

export function SharedFlags(): ReactNode {
  return <Words words={sharedFlags} />;
}

/** One command: usage, description, arguments and flags. */
export function Cmd({ name }: { readonly name: string }): ReactNode {
  const row = rowOf(commands, "name", name);
  return (
    <>
      <p>
        <code>{row.usage}</code>: {row.meaning}.
      </p>
      {row.words.length > 0 && <Words words={row.words} />}
    </>
  );
}
