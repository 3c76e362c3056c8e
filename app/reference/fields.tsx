// Fields with their rules, of requests, replies and schemas.

import { Fragment, type ReactNode } from "react";
import { Markdown } from "./markdown.tsx";
import { type Field, formOf, formText, rulesOf } from "./schema-fields.ts";

interface FieldListProps {
  readonly fields: readonly Field[];
  /** A reply has all its fields, but for those that may be absent; a request, those required. */
  readonly isReply?: boolean;
}

export function FieldList({ fields, isReply = false }: FieldListProps): ReactNode {
  if (fields.length === 0) return null;
  return (
    <dl className="fields">
      {fields.map((field) => (
        <Fragment key={field.path}>
          <dt>{field.path}</dt>
          <dd>
            <Facts field={field} isReply={isReply} /> <Markdown text={field.description} isInline />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

interface FactsProps {
  readonly field: Field;
  readonly isReply: boolean;
}

function Facts({ field: { schema, type, isRequired }, isReply }: FactsProps): ReactNode {
  const Kind = isRequired && !isReply ? "em" : "small";
  const form = formOf(schema);
  // One text beside another would have a comment of the renderer between them.
  const before = `${isRequired && !isReply ? "required " : ""}${type}`;
  const rules = rulesOf(schema).map((rule) => `, ${rule}`);
  const after = `${rules.join("")}${isReply && !isRequired ? ", may be absent" : ""}`;
  if (form === undefined) return <Kind>{before + after}</Kind>;
  return (
    <Kind>
      {`${before}, `}
      <a href={`/api#form-${form}`}>{formText(form)}</a>
      {after}
    </Kind>
  );
}
