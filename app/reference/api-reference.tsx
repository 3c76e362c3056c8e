// The reference of the API, from its description.

import Slugger from "github-slugger";
import { Fragment, type ReactNode } from "react";
import { replyCodes } from "../../openapi/codes.ts";
import { forms } from "../../openapi/forms.ts";
import openapi from "../../openapi/openapi.json" with { type: "json" };
import { FieldList } from "./fields.tsx";
import { Markdown } from "./markdown.tsx";
import { compactText, Operation } from "./operation.tsx";
import { commonReplies, operations } from "./operations.ts";
import { fieldsOf, formNames, formText, resolved, sharedSchemas } from "./schema-fields.ts";
import "../components/code-block.css";
import "../components/tabs.css";
import "../styles/docs.css";
import "./reference.css";

const { info, servers, tags } = openapi;

const slugger = new Slugger();
const introduction = [...info.description.matchAll(/^## (.+)$/gm)].map(
  ([, title = ""]) => [slugger.slug(title), title] as const,
);
const appendix = [
  ["common-replies", "Replies of all operations"],
  ["schemas", "Schemas"],
  ["forms", "Forms of text"],
] as const;

export function ApiReference(): ReactNode {
  return (
    <div className="docs reference">
      <div className="docs-sidebar">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
        <nav aria-label="API" tabIndex={0}>
          <details className="reference-menu">
            <summary>Operations</summary>
            <Menu />
          </details>
        </nav>
      </div>
      <main id="main" tabIndex={-1} className="docs-main reference-main prose">
        <Introduction />
        {tags.map(({ name, description }) => (
          <Fragment key={name}>
            <h2 id={`tag/${name.toLowerCase()}`}>{name}</h2>
            <Markdown text={description} />
            {operationsOf(name).map((operation) => (
              <Operation key={operation.operationId} operation={operation} />
            ))}
          </Fragment>
        ))}
        <Appendix />
      </main>
    </div>
  );
}

function Menu(): ReactNode {
  const groups = tags.map(({ name }) => ({
    name,
    links: operationsOf(name).map(({ operationId, summary }) => [operationId, summary] as const),
  }));
  return [
    { name: "Introduction", links: introduction },
    ...groups,
    { name: "Appendix", links: appendix },
  ].map(({ name, links }) => (
    <section key={name} className="menu-group">
      <h2>{name}</h2>
      <ul className="menu">
        {links.map(([id, label]) => (
          <li key={id}>
            <a href={`#${id}`}>{label}</a>
          </li>
        ))}
      </ul>
    </section>
  ));
}

function operationsOf(tag: string) {
  return operations.filter(({ tags: its }) => its.includes(tag));
}

function Introduction(): ReactNode {
  return (
    <>
      <header className="docs-head">
        <h1>{info.title}</h1>
        <p className="lead">{info.summary}</p>
        <p className="page-actions">
          <a href="/openapi.json">OpenAPI document</a>
          <a href="/holdfast.proto">Protocol Buffers</a>
          <a href="/api.md">View as Markdown</a>
        </p>
      </header>
      <Markdown text={info.description} />
      <h2 id="servers">Servers</h2>
      <dl className="fields">
        {servers.map(({ url, description }) => (
          <Fragment key={url}>
            <dt>{url}</dt>
            <dd>{description}</dd>
          </Fragment>
        ))}
      </dl>
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
              <pre>{compactText(reply)}</pre>
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
            <FieldList fields={fieldsOf(schema, sharedSchemas)} isReply />
          </Fragment>
        );
      })}
      <h2 id={formsId}>{texts}</h2>
      <p>
        The regular expressions that texts have to match. Bounds, and days that no calendar has, are
        checked besides.
      </p>
      <dl className="fields forms">
        {formNames.map((name) => (
          <Fragment key={name}>
            <dt id={`form-${name}`}>{formText(name)}</dt>
            <dd>{forms[name]}</dd>
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
