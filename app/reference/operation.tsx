// One operation: what it takes and answers, and beside it how it is called.

import { Fragment, type ReactNode } from "react";
import { CopyButton, Lines } from "./code.tsx";
import { FieldList, Fields } from "./fields.tsx";
import { Markdown } from "./markdown.tsx";
import { isCommon, mediaOf, type PlacedOperation, type Reply } from "./operations.ts";
import { samples } from "./samples.ts";
import { typeText } from "./schema-fields.ts";

interface OperationProps {
  readonly operation: PlacedOperation;
}

export function Operation({ operation }: OperationProps): ReactNode {
  const { operationId, tags, summary, method, path, description, responses } = operation;
  const success = responses["200"];
  return (
    // The longer address is one that earlier versions of this page gave out.
    <section className="operation" id={`tag/${tags[0]?.toLowerCase()}/${operationId}`}>
      <div className="operation-text">
        <h3 id={operationId}>
          {summary}
          <a className="anchor" href={`#${operationId}`} aria-label="Link to this section">
            #
          </a>
        </h3>
        <p className="operation-path">{`${method} ${path}`}</p>
        <Markdown text={description} />
        <Request operation={operation} />
        <h4>Replies</h4>
        <Replies responses={responses} />
      </div>
      <div className="operation-calls">
        <Samples operation={operation} />
        {success !== undefined && !isPlain(success) && (
          <figure className="code">
            <figcaption className="code-title">200 OK</figcaption>
            <pre>{exampleText(success)}</pre>
          </figure>
        )}
      </div>
    </section>
  );
}

function Request({ operation }: OperationProps): ReactNode {
  const { parameters = [], requestBody, responses } = operation;
  if (requestBody === undefined) return null;
  const tooLarge = responses["413"];
  // Where it is that of all, the replies of all say how large a body may be.
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
      <h4>Request</h4>
      <Fields schema={mediaOf(requestBody).schema ?? {}} />
      <FieldList fields={headers} />
      {!isBoundCommon && (
        <p className="operation-note">
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
              {code === "200" && <Success reply={reply} />}
              {(code !== "200" || isPlain(reply)) && <pre>{compactText(reply)}</pre>}
            </dd>
          </Fragment>
        ))}
      </dl>
      {common.length > 0 && (
        <p className="operation-note">
          {`${common.join(", ")}: as in “Replies of all operations”.`}
        </p>
      )}
    </>
  );
}

function Success({ reply }: { readonly reply: Reply }): ReactNode {
  const { schema = {} } = mediaOf(reply);
  return (
    <>
      <Fields schema={schema} isReply />
      {Object.entries(reply.headers ?? {}).map(([name, { description = "" }]) => (
        <p key={name}>
          Header <code>{name}</code>: {description}
        </p>
      ))}
    </>
  );
}

/** One panel for all languages: what is not chosen is not there (`start-reference.ts`). */
function Samples({ operation: { operationId, path, requestBody } }: OperationProps): ReactNode {
  const call = { path, body: mediaOf(requestBody).example };
  return (
    <figure className="code tabs" data-group="lang" data-call={JSON.stringify(call)}>
      <div className="tabs-list" role="tablist" aria-label={`Languages, ${operationId}`}>
        {Object.keys(samples).map((language, index) => (
          <button
            key={language}
            type="button"
            role="tab"
            aria-selected={index === 0}
            tabIndex={index === 0 ? 0 : -1}
          >
            {language}
          </button>
        ))}
      </div>
      <CopyButton />
      <Lines>{samples.curl(call)}</Lines>
      <button type="button" className="button" data-test-request={operationId}>
        Test Request
      </button>
    </figure>
  );
}

function exampleText(reply: Reply): string {
  const { example } = mediaOf(reply);
  return typeof example === "string" ? example.trimEnd() : JSON.stringify(example, null, 2);
}

/** A 200 that says no more than that. */
function isPlain(reply: Reply): boolean {
  const { code, ...rest } = Object(mediaOf(reply).example);
  return code === 200 && rest.message === "";
}

/** A reply in as few lines as it takes. */
export function compactText(reply: Reply): string {
  return JSON.stringify(mediaOf(reply).example, null, 1).replace(/\n\s*/g, " ");
}
