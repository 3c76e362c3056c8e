// Fields with their rules, of requests, replies and schemas.

import { Fragment, type ReactNode } from "react";
import { Markdown } from "./markdown.tsx";
import {
  type Field,
  fieldsOf,
  formOf,
  formText,
  nameOf,
  resolved,
  rulesOf,
  type Schema,
  sharedSchemas,
} from "./schema-fields.ts";

interface FieldsProps {
  readonly schema: Schema;
  /** A reply has all its fields, but for those that may be absent; a request, those required. */
  readonly isReply?: boolean;
}

export function Fields({ schema, isReply = false }: FieldsProps): ReactNode {
  const name = nameOf(schema) ?? "";
  if (sharedSchemas.includes(name)) {
    return (
      <p>
        <SchemaLink name={name} />: {resolved(schema).description}
      </p>
    );
  }
  return <FieldList fields={fieldsOf(schema, sharedSchemas)} isReply={isReply} />;
}

interface FieldListProps {
  readonly fields: readonly Field[];
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
  const entry = nameOf(schema.items ?? {}) ?? "";
  const rules = rulesOf(schema).map((rule) => `, ${rule}`);
  return (
    <Kind>
      {isRequired && !isReply && "required "}
      {sharedSchemas.includes(entry) ? (
        <>
          list of <SchemaLink name={entry} />
        </>
      ) : (
        type
      )}
      {form !== undefined && (
        <>
          {", "}
          <a href={`#form-${form}`}>{formText(form)}</a>
        </>
      )}
      {rules}
      {isReply && !isRequired && ", may be absent"}
    </Kind>
  );
}

function SchemaLink({ name }: { readonly name: string }): ReactNode {
  return <a href={`#schema-${name}`}>{name}</a>;
}
