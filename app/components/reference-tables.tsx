// Tables that are generated from the server's own constants; each row has an anchor.

import { codes, commands, limits, reasons, settings, sharedFlags } from "virtual:reference";
import { Fragment, type ReactNode } from "react";
import { SiteLink } from "../shell/site-link.tsx";
import "./reference-tables.css";

/** Text with `code` in it; a --flag is code too, and so does not break at its hyphens. */
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
    <dl className="settings">
      {settings.map(({ flag, env, key, values, meaning, default: standard }) => (
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
              <Fact name="Takes">{values}</Fact>
              <Fact name="Default">{standard === "" ? "none" : <code>{standard}</code>}</Fact>
              <Fact name="Variable">
                <code>{env}</code>
              </Fact>
              {key !== "" && (
                <Fact name="Key in the file">
                  <code>{key}</code>
                </Fact>
              )}
            </dl>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface TableProps {
  readonly head: readonly string[];
  readonly children: ReactNode;
}

function Table({ head, children }: TableProps): ReactNode {
  return (
    <div className="table-frame">
      <table>
        <thead>
          <tr>
            {head.map((text) => (
              <th scope="col" key={text}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function LimitsTable(): ReactNode {
  return (
    <Table head={["Limit", "Value"]}>
      {limits.map(({ id, what, value }) => (
        <tr key={id} id={`limit-${id}`}>
          <td>
            <Inline text={what} />
          </td>
          <td className="figure">{value}</td>
        </tr>
      ))}
    </Table>
  );
}

export function CodesTable(): ReactNode {
  return (
    <Table head={["Code", "It means", "What to do"]}>
      {codes.map(({ code, text, meaning, reaction }) => (
        <tr key={code} id={`code-${code}`}>
          <td>
            <SiteLink to={`/docs/errors/${code}`}>
              <strong className="figure">{code}</strong>
            </SiteLink>
            <br />
            <code>{text}</code>
          </td>
          <td data-label="It means">
            <Inline text={meaning} />
          </td>
          <td data-label="What to do">
            <Inline text={reaction} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function ReasonsTable(): ReactNode {
  return (
    <Table head={["Reason", "Code", "It means"]}>
      {reasons.map(({ reason, codes: its, meaning }) => (
        <tr key={reason} id={`reason-${reason}`}>
          <td>
            <SiteLink to={`/docs/errors/${its.split(", ")[0]}#${reason}`}>
              <code>{reason}</code>
            </SiteLink>
          </td>
          <td className="figure">{its}</td>
          <td>
            <Inline text={meaning} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** What to do about a code; its page begins with what it means. */
export function Code({ code }: { readonly code: string }): ReactNode {
  const row = codes.find((known) => known.code === code);
  if (row === undefined) throw new Error(`code does not exist; got '${code}'`);
  return (
    <p>
      <strong>What to do:</strong> <Inline text={row.reaction} />
    </p>
  );
}

export function Reason({ name }: { readonly name: string }): ReactNode {
  const row = reasons.find(({ reason }) => reason === name);
  if (row === undefined) throw new Error(`reason does not exist; got '${name}'`);
  return (
    <p>
      <Inline text={row.meaning} />
    </p>
  );
}

function Words({
  words,
}: {
  readonly words: readonly { readonly word: string; readonly meaning: string }[];
}): ReactNode {
  return (
    <Table head={["Argument or flag", "Meaning"]}>
      {words.map(({ word, meaning }) => (
        <tr key={word}>
          <td>
            <code>{word}</code>
          </td>
          <td>{meaning}</td>
        </tr>
      ))}
    </Table>
  );
}

export function SharedFlags(): ReactNode {
  return <Words words={sharedFlags} />;
}

/** One command of the program: usage, what it does, its arguments and flags. */
export function Cmd({ name }: { readonly name: string }): ReactNode {
  const row = commands.find((known) => known.name === name);
  if (row === undefined) throw new Error(`command does not exist; got '${name}'`);
  return (
    <>
      <p>
        <code>{row.usage}</code>: {row.meaning}.
      </p>
      {row.words.length > 0 && <Words words={row.words} />}
    </>
  );
}
