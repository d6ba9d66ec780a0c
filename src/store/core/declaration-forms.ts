/** The form of each column of a declaration in the table of collections. A column without its form is damaged. */
import { idKinds } from "../../collection/ids.ts";
import { isObject } from "../../json/values.ts";
import type { Row } from "../sql/plans.ts";

/** The columns of a declaration, in their order. */
export const declarationColumns = [
  "number",
  "name",
  "id_kind",
  "schema",
  "indexes",
  "search",
  "uniques",
  "refers",
  "timestamps",
  "slots",
] as const;

type Form = (value: unknown) => boolean;

const isText: Form = (value) => typeof value === "string";
const isFlag: Form = (value) => typeof value === "boolean";
const isSlot: Form = (value) => Number.isSafeInteger(value) && (value as number) > 0;
const listOf =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form);
const isPath: Form = (value) => listOf(isText)(value) && (value as readonly unknown[]).length > 0;
/** An object with these members. Other members are not looked at. */
const withMembers =
  (members: Readonly<Record<string, Form>>): Form =>
  (value) =>
    isObject(value) && Object.entries(members).every(([name, form]) => form(value[name]));
const orAbsent =
  (form: Form): Form =>
  (value) =>
    value === undefined || form(value);

const isSortKey = withMembers({ path: isPath, descending: isFlag });
const isUnique = withMembers({
  path: isPath,
  ignoreCase: isFlag,
  others: orAbsent(listOf(withMembers({ path: isPath }))),
  where: orAbsent(withMembers({ filter: withMembers({ kind: isText }) })),
});
const isReference = withMembers({
  path: isPath,
  collection: isText,
  onDelete: (value) => ["restrict", "cascade", "clear"].includes(String(value)),
});
const isSlots = withMembers({
  next: isSlot,
  used: listOf(isSlot),
  building: orAbsent(withMembers({ slots: listOf(isSlot), unused: listOf(isSlot), words: orAbsent(isText) })),
});

/** Whether each column of a declaration has its form. */
export function declarationForms(row: Row): readonly boolean[] {
  const [number, name, idKind, schema, ...others] = row;
  const [indexes, search, uniques, refers, slots] = [...others.slice(0, 4), others[5]].map(parsed);
  const [, , , , timestamps] = others;
  const count = lengthOf(indexes) + lengthOf(uniques);
  return [
    Number.isSafeInteger(Number(number)),
    isText(name),
    Object.hasOwn(idKinds, String(idKind)),
    schema === null || parsed(schema) !== undefined,
    listOf(listOf(isSortKey))(indexes),
    listOf(isPath)(search),
    listOf(isUnique)(uniques),
    listOf(isReference)(refers),
    ["0", "1", "f", "t"].includes(String(timestamps)),
    isSlots(slots) && lengthOf((slots as { used: unknown }).used) === count,
  ];
}

/** The value of a JSON text; `undefined` if the text is not JSON. */
function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
