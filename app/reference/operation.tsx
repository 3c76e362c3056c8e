// One operation: its request and replies, and sample calls beside them.

import { Fragment, type ReactNode } from "react";
import { Tab, Tabs } from "../components/tabs.tsx";
import { PageActions } from "../docs/page-actions.tsx";
import { Paging } from "../docs/paging.tsx";
import { Code } from "./code.tsx";
import { FieldList } from "./fields.tsx";
import { Markdown } from "./markdown.tsx";
import {
  groups,
  isCommon,
  mediaOf,
  operationPath,
  type PlacedOperation,
  type Reply,
  roleText,
} from "./operations.ts";
import { samples } from "./samples.ts";
import { fieldsOf, typeText } from "./schema-fields.ts";

interface OperationProps {
  readonly operation: PlacedOperation;
}

export function Operation({ operation }: OperationProps): ReactNode {
  const { tags, summary, description, responses } = operation;
  return (
    <article className="operation">
      <header className="docs-head">
        <p className="eyebrow">{`API, ${tags[0]}`}</p>
        <h1>{summary}</h1>
        <p className="operation-path figure">{callOf(operation)}</p>
        <p className="fine">
          {"Where keys are asked for: "}
          <a href="/docs/configuration#roles">{roleText(operation)}</a>.
        </p>
        <Markdown text={description} />
        <PageActions path={operationPath(operation)} />
      </header>
      <Calls operation={operation} />
      <div className="operation-text">
        <Request operation={operation} />
        <h2 id="replies">Replies</h2>
        <Replies responses={responses} />
        <Neighbours operation={operation} />
      </div>
    </article>
  );
}

function callOf({ method, path }: PlacedOperation): string {
  return `${method} ${path}`;
}

function Calls({ operation }: OperationProps): ReactNode {
  const { operationId, path, requestBody, responses } = operation;
  const call = { path, body: mediaOf(requestBody).example };
  const success = responses["200"];
  return (
    <div className="operation-calls">
      <Tabs group="lang">
        {Object.entries(samples).map(([language, sampleOf]) => (
          <Tab key={language} label={language}>
            <Code title={callOf(operation)}>{sampleOf(call)}</Code>
          </Tab>
        ))}
      </Tabs>
      <button type="button" className="button" data-test-request={operationId}>
        Test Request
      </button>
      {success !== undefined && <Code title="200 OK">{exampleText(success)}</Code>}
    </div>
  );
}

function Request({ operation }: OperationProps): ReactNode {
  const { parameters = [], requestBody, responses } = operation;
  if (requestBody === undefined) return null;
  const tooLarge = responses["413"];
  // If the bound is common to all operations, the common replies document it.
  const isBoundCommon = tooLarge !== undefined && isCommon("413", tooLarge);
  const headers = parameters.map(({ name, required, description, schema }) => ({
    path: name,
    schema,
    type: `header, ${typeText(schema)}`,
    isRequired: required,
    description,
  }));
  return (
    <>
      <h2 id="request">Request</h2>
      <FieldList fields={[...fieldsOf(mediaOf(requestBody).schema ?? {}), ...headers]} />
      {!isBoundCommon && (
        <p className="caption">
          <Markdown text={requestBody.description ?? ""} isInline />
        </p>
      )}
    </>
  );
}

function Replies({ responses }: Pick<PlacedOperation, "responses">): ReactNode {
  const all = Object.entries(responses);
  const own = all.filter(([code, reply]) => !isCommon(code, reply));
  const common = all.filter(([code, reply]) => isCommon(code, reply)).map(([code]) => code);
  return (
    <>
      <dl className="replies">
        {own.map(([code, reply]) => (
          <Fragment key={code}>
            <dt>{code}</dt>
            <dd>
              <Markdown text={reply.description} isInline />
              {code === "200" ? (
                <Success reply={reply} />
              ) : (
                <pre className="fine">{compactText(reply)}</pre>
              )}
            </dd>
          </Fragment>
        ))}
      </dl>
      {common.length > 0 && (
        <p className="caption">
          {`${common.join(", ")}: as in `}
          <a href="/api#common-replies">Replies of all operations</a>.
        </p>
      )}
    </>
  );
}

function Success({ reply }: { readonly reply: Reply }): ReactNode {
  return (
    <>
      <FieldList fields={fieldsOf(mediaOf(reply).schema ?? {})} isReply />
      {Object.entries(reply.headers ?? {}).map(([name, { description = "" }]) => (
        <p key={name}>
          Header <code>{name}</code>: {description}
        </p>
      ))}
    </>
  );
}

/** The previous and next operation in the list. */
function Neighbours({ operation }: OperationProps): ReactNode {
  const all = groups.flatMap(({ operations }) => operations);
  const pages = all.map((one) => ({ label: one.summary, to: operationPath(one) }));
  return <Paging label="Operations" pages={pages} current={operationPath(operation)} />;
}

function exampleText(reply: Reply): string {
  const { example } = mediaOf(reply);
  return typeof example === "string" ? example.trimEnd() : JSON.stringify(example, null, 2);
}

/** A reply in as few lines as possible. */
export function compactText(reply: Reply): string {
  return JSON.stringify(mediaOf(reply).example, null, 1).replace(/\n\s*/g, " ");
}
