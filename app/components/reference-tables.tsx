// Tables that are generated from the server's own constants; each row has an anchor.

import { codes, limits, reasons, settings } from "virtual:reference";
import { Fragment, type ReactNode } from "react";
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

export function LimitsTable(): ReactNode {
  return (
    <div className="table-frame">
      <table>
        <thead>
          <tr>
            <th scope="col">Limit</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {limits.map(({ id, what, value }) => (
            <tr key={id} id={`limit-${id}`}>
              <td>
                <Inline text={what} />
              </td>
              <td className="figure">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function CodesTable(): ReactNode {
  return (
    <div className="table-frame">
      <table>
        <thead>
          <tr>
            <th scope="col">Code</th>
            <th scope="col">It means</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {codes.map(({ code, text, meaning, reaction }) => (
            <tr key={code} id={`code-${code}`}>
              <td>
                <strong className="figure">{code}</strong>
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
        </tbody>
      </table>
    </div>
  );
}

export function ReasonsTable(): ReactNode {
  return (
    <div className="table-frame">
      <table>
        <thead>
          <tr>
            <th scope="col">Reason</th>
            <th scope="col">Code</th>
            <th scope="col">It means</th>
          </tr>
        </thead>
        <tbody>
          {reasons.map(({ reason, codes: itsCodes, meaning }) => (
            <tr key={reason} id={`reason-${reason}`}>
              <td>
                <code>{reason}</code>
              </td>
              <td className="figure">{itsCodes}</td>
              <td>
                <Inline text={meaning} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
