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

export function Fields({ schema }: { readonly schema: Schema }): ReactNode {
  const name = nameOf(schema) ?? "";
  if (sharedSchemas.includes(name)) {
    return (
      <p>
        <SchemaLink name={name} />: {resolved(schema).description}
      </p>
    );
  }
  return <FieldList fields={fieldsOf(schema, sharedSchemas)} />;
}

export function FieldList({ fields }: { readonly fields: readonly Field[] }): ReactNode {
  if (fields.length === 0) return null;
  return (
    <dl className="fields">
      {fields.map((field) => (
        <Fragment key={field.path}>
          <dt>{field.path}</dt>
          <dd>
            <Facts field={field} /> <Markdown text={field.description} isInline />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

interface FactsProps {
  readonly field: Field;
}

function Facts({ field: { schema, type, isRequired } }: FactsProps): ReactNode {
  const Kind = isRequired ? "em" : "small";
  const form = formOf(schema);
  const entry = nameOf(schema.items ?? {}) ?? "";
  const rules = rulesOf(schema).map((rule) => `, ${rule}`);
  return (
    <Kind>
      {isRequired && "required "}
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
    </Kind>
  );
}

function SchemaLink({ name }: { readonly name: string }): ReactNode {
  return <a href={`#schema-${name}`}>{name}</a>;
}
