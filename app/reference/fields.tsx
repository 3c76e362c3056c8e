// Fields of requests, replies and schemas, with their rules.

import { Fragment, type ReactNode } from "react";
import { Markdown } from "./markdown.tsx";
import { type Field, formOf, formText, rulesOf } from "./schema-fields.ts";

interface FieldListProps {
  readonly fields: readonly Field[];
  /**
   * In a reply, all fields are present except optional ones; in a request, only the required ones.
   */
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
  // React would insert a comment between two adjacent texts.
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
