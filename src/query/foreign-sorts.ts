/**
 * Recognizes sorts in the syntax of other servers (`name:desc`, `name desc`, `name.desc`, `desc(name)`) and translates them.
 * The service refuses such sorts, and the message shows the translation. Nothing here knows which attributes exist.
 */

/** A sort key before its name is checked. */
export interface NamedKey {
  name: string;
  descending: boolean;
}

/** A sort key in the syntax of another server. */
export interface ForeignKey extends NamedKey {
  /** Whether the text is hardly the name of an attribute. A name such as `name.desc` can be a path. */
  isCertain: boolean;
}

const suffix = /^[+-]?(.+?)(:|\||\s|\.)(asc|desc|ascending|descending|-1|1)$/i;
const call = /^(asc|desc)\((.+)\)$/i;

/** Reads a sort key in the syntax of another server; `undefined` if the text does not have this form. */
export function foreignKey(text: string): ForeignKey | undefined {
  const [, direction, inner] = call.exec(text) ?? [];
  if (direction !== undefined && inner !== undefined)
    return { name: inner, descending: isDescendingWord(direction), isCertain: true };
  const [, name, separator, word] = suffix.exec(text) ?? [];
  if (name === undefined || separator === undefined || word === undefined) return undefined;
  return { name: name.trim(), descending: isDescendingWord(word), isCertain: separator !== "." };
}

/** Whether a text is a direction, such as `desc`. */
export function isDirection(text: string): boolean {
  return /^(?:asc|desc|ascending|descending|-1|1)$/i.test(text.trim());
}

/** Whether a direction is descending. */
function isDescendingWord(text: string): boolean {
  return /^(?:desc|descending|-1)$/i.test(text.trim());
}

/** Translates a value in the syntax of another server into a value of `sort`, such as `-name,title`. */
export function translateSort(text: string, direction = "asc"): string {
  const keys: string[] = [];
  for (const written of text.split(",").map((each) => each.trim())) {
    const last = keys.at(-1);
    if (isDirection(written) && last !== undefined)
      keys[keys.length - 1] = writeKey({
        name: last.replace(/^-/, ""),
        descending: isDescendingWord(written),
      });
    else {
      const key = foreignKey(written) ?? {
        name: written.replace(/^[+-]/, ""),
        descending: written.startsWith("-") || isDescendingWord(direction),
      };
      keys.push(writeKey(key));
    }
  }
  return keys.join(",");
}

/** Translates an object such as `{"name":-1}` into a value of `sort`. */
export function translateSortObject(object: Readonly<Record<string, unknown>>): string {
  const keys = Object.entries(object).map(([name, direction]) =>
    writeKey({ name, descending: isDescendingWord(String(direction)) }),
  );
  return keys.join(",");
}

/** A sort key in the syntax of this service. */
function writeKey({ name, descending }: NamedKey): string {
  return descending ? `-${name}` : name;
}
