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
  const isEntry = sharedSchemas.includes(entry);
  // One text beside another would have a comment of the renderer between them.
  const before = `${isRequired && !isReply ? "required " : ""}${isEntry ? "list of " : type}`;
  const rules = rulesOf(schema).map((rule) => `, ${rule}`);
  const after = `${rules.join("")}${isReply && !isRequired ? ", may be absent" : ""}`;
  if (!isEntry && form === undefined) return <Kind>{before + after}</Kind>;
  return (
    <Kind>
      {before}
      {isEntry && <SchemaLink name={entry} />}
      {form !== undefined && (
        <>
          {", "}
          <a href={`#form-${form}`}>{formText(form)}</a>
        </>
      )}
      {after}
    </Kind>
  );
}

function SchemaLink({ name }: { readonly name: string }): ReactNode {
  return <a href={`#schema-${name}`}>{name}</a>;
}
