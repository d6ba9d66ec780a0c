/** How clients of other servers write a sort: `name:desc`, `name desc`, `name.desc`, `desc(name)`. */
import type { Spelled } from "./sort-keys.ts";

/** A key in another server's spelling. */
export interface ForeignKey extends Spelled {
  /** Whether hardly any attribute has such a name. */
  isCertain: boolean;
}

const suffix = /^[+-]?(.+?)(:|\||\s|\.)(asc|desc|ascending|descending|-1|1)$/i;
const call = /^(asc|desc)\((.+)\)$/i;

/** What a key of another server means; `undefined` where it does not look like one. */
export function foreignKey(text: string): ForeignKey | undefined {
  const [, direction, inner] = call.exec(text) ?? [];
  if (direction !== undefined && inner !== undefined)
    return { name: inner, descending: isDescendingWord(direction), isCertain: true };
  const [, name, separator, word] = suffix.exec(text) ?? [];
  if (name === undefined || separator === undefined || word === undefined) return undefined;
  return { name: name.trim(), descending: isDescendingWord(word), isCertain: separator !== "." };
}

/** Whether a text is a direction and not an attribute's name. */
export function isDirection(text: string): boolean {
  return /^(?:asc|desc|ascending|descending|-1|1)$/i.test(text.trim());
}

/** Whether a direction descends. */
export function isDescendingWord(text: string): boolean {
  return /^(?:desc|descending|-1)$/i.test(text.trim());
}

/** The sort of this server that a text of another one means, such as `-name,title`. */
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

/** The sort of this server that an object such as `{"name":-1}` means. */
export function sortMeantByObject(object: Readonly<Record<string, unknown>>): string {
  const keys = Object.entries(object).map(([name, direction]) =>
    spell({ name, descending: isDescendingWord(String(direction)) }),
  );
  return keys.join(",");
}

/** A key as it is written here. */
function spell({ name, descending }: Spelled): string {
  return descending ? `-${name}` : name;
}
