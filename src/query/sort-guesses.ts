/** How clients of other servers write a sort: `name:desc`, `name desc`, `name.desc`, `desc(name)`. */

/** A key as it was written. */
export interface Spelled {
  name: string;
  descending: boolean;
}

/** A key in another server's spelling. */
export interface ForeignKey extends Spelled {
  /** Whether hardly any attribute has such a name. */
  isCertain: boolean;
}

const suffix = /^[+-]?(.+?)(:|\||\s|\.)(asc|desc|ascending|descending|-1|1)$/i;
const call = /^(asc|desc)\((.+)\)$/i;

/** What a sort key of another server means; `undefined` if the text does not look like one. */
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
export function isDescendingWord(text: string): boolean {
  return /^(?:desc|descending|-1)$/i.test(text.trim());
}

/** The value of `sort` here, such as `-name,title`, for the value in another server's spelling. */
export function sortMeantBy(text: string, direction = "asc"): string {
  const keys: string[] = [];
  for (const written of text.split(",").map((each) => each.trim())) {
    const last = keys.at(-1);
    if (isDirection(written) && last !== undefined)
      keys[keys.length - 1] = spell({ name: last.replace(/^-/, ""), descending: isDescendingWord(written) });
    else {
      const key = foreignKey(written) ?? {
        name: written.replace(/^[+-]/, ""),
        descending: written.startsWith("-") || isDescendingWord(direction),
      };
      keys.push(spell(key));
    }
  }
  return keys.join(",");
}

/** The value of `sort` here for an object such as `{"name":-1}`. */
export function sortMeantByObject(object: Readonly<Record<string, unknown>>): string {
  const keys = Object.entries(object).map(([name, direction]) =>
    spell({ name, descending: isDescendingWord(String(direction)) }),
  );
  return keys.join(",");
}

/** A sort key in the spelling of this server. */
function spell({ name, descending }: Spelled): string {
  return descending ? `-${name}` : name;
}
