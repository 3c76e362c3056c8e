// The fields of a schema of `openapi.json`, flat: nested ones by their path.

import openapi from "../../openapi/openapi.json" with { type: "json" };

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: boolean | Schema;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Field {
  /** `items[].utf8` is the key of each entry of a list. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

const schemas = openapi.components.schemas as unknown as Readonly<Record<string, Schema>>;

export function resolved(schema: Schema): Schema {
  const name = schema.$ref?.slice(schema.$ref.lastIndexOf("/") + 1);
  return name === undefined ? schema : { ...schemas[name], ...schema };
}

export function fieldsOf(given: Schema, prefix = ""): readonly Field[] {
  const schema = resolved(given);
  const entry = schema.items === undefined ? [] : fieldsOf(schema.items, `${prefix}[]`);
  const choices = (schema.anyOf ?? []).flatMap((choice) => fieldsOf(choice, prefix));
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    const field = {
      path,
      type: typeText(property),
      isRequired: schema.required?.includes(key) === true,
      description: describe(property),
    };
    return [field, ...fieldsOf(property, path)];
  });
  return [...own, ...choices, ...entry];
}

export function typeText(given: Schema): string {
  const { type, items, anyOf } = resolved(given);
  if (anyOf !== undefined) return anyOf.map(typeText).join(" or ");
  if (items !== undefined) return `list of ${typeText(items)}`;
  return typeof type === "string" ? type : (type ?? ["any"]).join(" or ");
}

function describe(given: Schema): string {
  const {
    description = "",
    minimum,
    maximum,
    minItems,
    maxItems,
    default: value,
  } = resolved(given);
  const bounds = [
    minimum === undefined ? "" : `At least ${minimum}.`,
    maximum === undefined ? "" : `At most ${maximum}.`,
    minItems === undefined ? "" : `At least ${minItems} of them.`,
    maxItems === undefined ? "" : `At most ${maxItems} of them.`,
    value === undefined ? "" : `Default: \`${JSON.stringify(value)}\`.`,
  ];
  return [description, ...bounds].filter((text) => text !== "").join(" ");
}
