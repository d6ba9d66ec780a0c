/** Writes the option `embed` as the parameters `embed` and `fields` of a request. */
import { HoldfastError } from "./errors.ts";
import type { AnyEmbeds } from "./relation-types.ts";

/** The relations as the parameter `embed` has them: `author`, `author.team`, `comments(status=open,limit:5,sort:-createdAt)`. */
export function embedTexts(embeds: AnyEmbeds, above = ""): string[] {
  requireEmbeds(embeds, above);
  return Object.entries(embeds).flatMap(([name, options]) => {
    const { limit, filter = {}, sort = [], embed = {} } = options === true ? {} : options;
    const given = [
      ...conditionTexts(filter, above + name),
      ...(limit === undefined ? [] : [`limit:${limit}`]),
      ...(typeof sort === "string" ? sort.split(",") : sort).map((key) => `sort:${key}`),
    ];
    const own = `${above}${name}${given.length === 0 ? "" : `(${given.join(",")})`}`;
    return [own, ...embedTexts(embed, `${above}${name}.`)];
  });
}

/** Throws HoldfastError for what JavaScript lets through, such as the text of the parameter. Each character would be a relation. */
export function requireEmbeds(embeds: unknown, above = ""): asserts embeds is AnyEmbeds {
  const place = above === "" ? '"embed"' : `"embed" of ${JSON.stringify(above.slice(0, -1))}`;
  if (!isObject(embeds)) {
    const given = [embeds].flat().flatMap((each) => (typeof each === "string" ? each.split(",") : []));
    const name = given.find((each) => each !== "") ?? "author";
    throw new HoldfastError(
      `${place} must be an object: write { ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: true }.`,
    );
  }
  for (const [name, options] of Object.entries(embeds))
    if (options !== true && !isObject(options))
      throw new HoldfastError(
        `${JSON.stringify(name)} in ${place} must be true, or an object with the options of the relation.`,
      );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The names in the parameter `fields`: those of the resource, and those of its relations with their path. `undefined` if they are
 * all attributes.
 */
export function fieldTexts(
  own: readonly string[] | undefined,
  embeds: AnyEmbeds = {},
  above = "",
): readonly string[] | undefined {
  const inner = Object.entries(embeds).flatMap(([name, options]) =>
    options === true ? [] : (fieldTexts(options.fields, options.embed, `${above}${name}.`) ?? []),
  );
  if (own === undefined) return inner.length === 0 ? undefined : [`${above}*`, ...inner];
  const names = own.length === 0 && above !== "" ? ["id"] : own;
  const written = names.map((each) =>
    each.startsWith("-") ? `-${above}${each.slice(1)}` : `${above}${each}`,
  );
  return [...written, ...inner];
}

/** The conditions as parameters of a list: `status=open`, `votes:gte=10`. Throws HoldfastError for what they cannot express. */
function conditionTexts(filter: object, relation: string): string[] {
  const refuse = (why: string): never => {
    throw new HoldfastError(`The filter of ${JSON.stringify(relation)} in "embed" ${why}`);
  };
  const textOf = (value: unknown): string => {
    const text = String(value);
    if (/[(),]|^\s|\s$/.test(text))
      refuse(
        `has the value ${JSON.stringify(value)}. Parentheses, commas, and spaces at the start or the end cannot be sent there. Read these resources with "nested".`,
      );
    return text;
  };
  return Object.entries(filter).flatMap(([name, condition]: [string, unknown]) => {
    if (condition === undefined) return [];
    if (name === "and" || name === "or" || name === "not")
      refuse(`has ${JSON.stringify(name)}. It can have only conditions, all of which must be true.`);
    const operators =
      typeof condition !== "object" || condition === null
        ? { eq: condition }
        : Array.isArray(condition)
          ? { in: condition }
          : condition;
    return Object.entries(operators).flatMap(([operator, operand]: [string, unknown]) => {
      if (operand === undefined) return [];
      if (Array.isArray(operand) && operand.length === 0)
        refuse(`has an empty list for ${JSON.stringify(name)}, which cannot be sent.`);
      const value = Array.isArray(operand) ? operand.map(textOf).join(",") : textOf(operand);
      return `${name}:${operator}=${value}`;
    });
  });
}
