/** All types that a schema can declare (`declared-type.ts`). */
import { date, wholeTimes } from "./date.ts";
import type { ComparedValues, DeclaredType } from "./declared-type.ts";
import { exact } from "./exact.ts";

/** The types, by their names. */
export const declaredTypes = { date, exact } as const;

/** What a schema can declare that values mean: the name of a type. */
export type DeclaredMeaning = keyof typeof declaredTypes;

/** What values mean: a declared type, or (`time`) whole times where no schema says what an attribute is. */
export type Meaning = "time" | DeclaredMeaning;

const all: readonly DeclaredType<DeclaredMeaning>[] = Object.values(declaredTypes);

/** All formats that declare a type, by name. */
export const declaredFormats = Object.assign(
  Object.create(null),
  ...all.map(({ formats }) => formats),
) as Readonly<Record<string, DeclaredType["formats"][string]>>;

const typesByForm: ReadonlyMap<string, DeclaredType<DeclaredMeaning>> = new Map(
  all.flatMap((type) =>
    Object.values(type.formats).flatMap(({ texts = [], numbers = [] }) =>
      [...texts, ...numbers].map((form) => [form, type] as const),
    ),
  ),
);

/** The type whose values have a form. */
export function typeOfForm(form: string): DeclaredType<DeclaredMeaning> | undefined {
  return typesByForm.get(form);
}

/** How the numbers of each type are added that has numbers. */
export const textNumbers = all.flatMap(({ arithmetic }) => arithmetic ?? []);

/** How values are compared by what they mean. */
export function comparedValues(as: Meaning): ComparedValues {
  return as === "time" ? wholeTimes : declaredTypes[as];
}

/** The key of what a value means; `undefined` if it means nothing of this kind. */
export function comparedKeyOf(value: unknown, as: Meaning): string | undefined {
  return comparedValues(as).keyOf(value);
}

/** The type with a name; `undefined` for other words, such as those that sort keys have besides. */
export function typeNamed(name: string | undefined): DeclaredType | undefined {
  return name !== undefined && Object.hasOwn(declaredTypes, name)
    ? declaredTypes[name as DeclaredMeaning]
    : undefined;
}

/** The type that has a key; `undefined` if the text is no key. */
export function typeOfKey(text: string): DeclaredType | undefined {
  return all.find((type) => type.isKey(text));
}
