/** The fields of a sign-up for the attributes that every profile must have. */
import type { Field } from "./form.ts";

/** The parts of a declared collection that say what a profile needs. */
export interface ProfileCollection {
  /** What the caller can do with at least some profiles. */
  operations?: readonly string[];
  schema?: { required?: readonly string[]; properties?: Readonly<Record<string, Attribute>> } | null;
  defaults?: Readonly<Record<string, unknown>>;
}

interface Attribute {
  type?: string | readonly string[];
  title?: string;
  description?: string;
  format?: string;
  enum?: readonly unknown[];
  readOnly?: boolean;
}

/** The name of an attribute as people read it: `firstName` is "First name". */
function labelOf(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const types: Readonly<Record<string, Field["type"]>> = {
  integer: "number",
  number: "number",
  boolean: "checkbox",
};

const formats: Readonly<Record<string, Field["type"]>> = { email: "email", date: "date", uri: "url" };

/** What browsers know about a person. */
const known: Readonly<Record<string, string>> = {
  name: "name",
  firstName: "given-name",
  lastName: "family-name",
  nickname: "nickname",
};

/** The field for an attribute of the profile. Without its schema, it is a text. */
export function profileField(
  name: string,
  { type, title, description, format, enum: options }: Attribute = {},
): Field {
  return {
    name,
    label: title ?? labelOf(name),
    type: types[String(type)] ?? formats[String(format)] ?? "text",
    autocomplete: known[name] ?? "off",
    ...(description !== undefined && { hint: description }),
    ...(options?.every((each) => typeof each === "string") && { options: options as string[] }),
  };
}

/** The fields for the attributes that a profile must have. @default those of the schema that no default fills in */
export function profileFields(
  { schema, defaults = {} }: ProfileCollection,
  names?: readonly string[],
): Field[] {
  const { required = [], properties = {} } = schema ?? {};
  const asked = names ?? required.filter((name) => !Object.hasOwn(defaults, name));
  return asked.map((name) => profileField(name, properties[name]));
}
