// The fields of an `openapi.json` schema as a flat list, nested ones by path.

import { forms } from "../../openapi/forms.ts";
import openapi from "../../openapi/openapi.json" with { type: "json" };

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly "x-extensible-enum"?: readonly unknown[];
  readonly contentEncoding?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export interface Field {
  /** `items[].utf8` is the key `utf8` of each entry of a list. */
  readonly path: string;
  readonly schema: Schema;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

const schemas = openapi.components.schemas as unknown as Readonly<Record<string, Schema>>;

/** Schemas shared by several operations, by the names that generated clients use. */
export const sharedSchemas: readonly string[] = Object.keys(schemas).filter(
  (name) =>
    !name.endsWith("Request") &&
    JSON.stringify(openapi).split(`"#/components/schemas/${name}"`).length > 2,
);

export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.slice($ref.lastIndexOf("/") + 1);
}

/** A schema that may be `null` has it in its type. */
export function resolved(schema: Schema): Schema {
  const named = schema.anyOf?.find(({ type }) => type !== "null") ?? schema;
  const name = nameOf(named);
  if (name === undefined) return schema;
  const whole = { ...schemas[name], ...named };
  return named === schema ? whole : { ...whole, type: [whole.type ?? [], "null"].flat() };
}

export function fieldsOf(given: Schema, prefix = ""): readonly Field[] {
  const schema = resolved(given);
  const entry = schema.items === undefined ? [] : fieldsOf(schema.items, `${prefix}[]`);
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    const whole = resolved(property);
    const field = {
      path,
      schema: whole,
      type: typeText(property),
      isRequired: schema.required?.includes(key) === true,
      description: whole.description ?? "",
    };
    return [field, ...fieldsOf(property, path)];
  });
  return [...own, ...entry];
}

export function typeText(given: Schema): string {
  const { type, items } = resolved(given);
  if (items !== undefined) return `list of ${nameOf(items) ?? typeText(items)}`;
  return typeof type === "string" ? type : (type ?? ["any"]).join(" or ");
}

/** The form of a text: its name in `openapi/forms.ts`, if it has one. */
export function formOf({ pattern, items }: Schema): FormName | undefined {
  const expression = pattern ?? (items && resolved(items).pattern);
  return formNames.find((name) => forms[name] === expression);
}

export type FormName = keyof typeof forms;
export const formNames = Object.keys(forms) as readonly FormName[];

/** `durationOrNever` becomes "duration or never". */
export function formText(name: FormName): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** A longer list of values is in the description, or on its own page. */
const wordsMax = 16;

function wordsOf(schema: Schema): readonly unknown[] | undefined {
  return schema.enum ?? schema["x-extensible-enum"];
}

/** The rules of a field besides its type. */
export function rulesOf(schema: Schema): readonly string[] {
  const words = wordsOf(schema) ?? (schema.items && wordsOf(resolved(schema.items))) ?? [];
  const { minimum, maximum, minItems, maxItems, minLength, maxLength } = schema;
  return [
    schema.contentEncoding ?? "",
    words.length === 0 || words.length > wordsMax ? "" : `of ${words.join(", ")}`,
    range(minimum, maximum, ""),
    range(minItems, maxItems, " entries"),
    range(minLength, maxLength, " characters"),
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
  ].filter((text) => text !== "");
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  if (min !== undefined && max !== undefined) return `${min} to ${max}${unit}`;
  if (min !== undefined) return `at least ${min}${unit}`;
  return max === undefined ? "" : `at most ${max}${unit}`;
}
