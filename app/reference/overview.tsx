// Rules common to all operations, and the list of operations.

import { Fragment, type ReactNode } from "react";
import { replyCodes } from "../../openapi/codes.ts";
import { forms } from "../../openapi/forms.ts";
import openapi from "../../openapi/openapi.json" with { type: "json" };
import { FieldList } from "./fields.tsx";
import { Markdown } from "./markdown.tsx";
import { compactText } from "./operation.tsx";
import { commonReplies, firstSentence, groups, operationPath } from "./operations.ts";
import { appendix } from "./reference-menu.tsx";
import { fieldsOf, formNames, formText, resolved, sharedSchemas } from "./schema-fields.ts";

const { info, servers } = openapi;
const rulesAt = info.description.indexOf("## ");

/**
 * Operations had anchors on this page before they had pages of their own, so an old address is
 * redirected. Without the script, the anchor leads to the operation's entry in the list, which is a
 * link.
 */
const leadOn = `(onhashchange=function(){var e=document.getElementById(location.hash.slice(1)),d=e&&e.closest("dt"),a=d&&d.querySelector("a[href^='/api/']");if(a)location.replace(a.href)})()`;

export function Overview(): ReactNode {
  return (
    <>
      <header className="docs-head">
        <h1>{info.title}</h1>
        <p className="lead">{info.summary}</p>
        <p className="page-actions cluster fine">
          <a href="/openapi.json">OpenAPI document</a>
          <a href="/holdfast.proto">Protocol Buffers</a>
          <a href="/api.md">View as Markdown</a>
        </p>
      </header>
      <Markdown text={info.description.slice(0, rulesAt)} />
      <Operations />
      <Markdown text={info.description.slice(rulesAt)} />
      <h2 id="servers">Servers</h2>
      <dl className="fields">
        {servers.map(({ url, description }) => (
          <Fragment key={url}>
            <dt>{url}</dt>
            <dd>{description}</dd>
          </Fragment>
        ))}
      </dl>
      <Appendix />
    </>
  );
}

function Operations(): ReactNode {
  return (
    <>
      {groups.map(({ name, description, operations }) => (
        <Fragment key={name}>
          <h2 id={`tag/${name.toLowerCase()}`}>{name}</h2>
          <Markdown text={description} />
          <dl className="operations">
            {operations.map((operation) => (
              <Fragment key={operation.operationId}>
                <dt className="cluster" id={`tag/${name.toLowerCase()}/${operation.operationId}`}>
                  <a id={operation.operationId} href={operationPath(operation)}>
                    {operation.summary}
                  </a>{" "}
                  <code>{operation.path}</code>
                </dt>
                <dd>
                  <Markdown text={firstSentence(operation)} isInline />
                </dd>
              </Fragment>
            ))}
          </dl>
        </Fragment>
      ))}
      <script dangerouslySetInnerHTML={{ __html: leadOn }} />
    </>
  );
}

function Appendix(): ReactNode {
  const [[repliesId, replies], [schemasId, schemas], [formsId, texts]] = appendix;
  return (
    <>
      <h2 id={repliesId}>{replies}</h2>
      <dl className="replies">
        {[...commonReplies].map(([code, reply]) => (
          <Fragment key={code}>
            <dt>{code}</dt>
            <dd>
              {meaningOf(code)}
              <pre className="fine">{compactText(reply)}</pre>
            </dd>
          </Fragment>
        ))}
      </dl>
      <h2 id={schemasId}>{schemas}</h2>
      {sharedSchemas.map((name) => {
        const schema = resolved({ $ref: name });
        return (
          <Fragment key={name}>
            <h3 id={`schema-${name}`}>{name}</h3>
            <Markdown text={schema.description ?? ""} />
            <FieldList fields={fieldsOf(schema)} isReply />
          </Fragment>
        );
      })}
      <h2 id={formsId}>{texts}</h2>
      <p>
        The regular expressions that texts have to match. Bounds, and days that no calendar has, are
        checked besides.
      </p>
      <dl className="fields">
        {formNames.map((name) => (
          <Fragment key={name}>
            <dt id={`form-${name}`}>{formText(name)}</dt>
            <dd className="figure">{forms[name]}</dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}

function meaningOf(code: string): ReactNode {
  const { text, meaning, reaction } = replyCodes[Number(code) as keyof typeof replyCodes];
  return <Markdown text={`**${text}.** ${meaning} ${reaction}`} isInline />;
}
