/** Reads the names in a request for figures: figures such as `sum(total)`, keys of groups, and sort keys. Adds violations. */
import type { AttributeType } from "../collection/attributes.ts";
import { comparedAs } from "../collection/indexes.ts";
import { shortJson } from "../collection/messages.ts";
import {
  attributeFigures,
  type DateUnit,
  dateUnits,
  type Figure,
  type FigureContents,
  type FigureSortKey,
  type GroupKey,
} from "./figures.ts";
import { type Attribute, type Reading, readAttribute } from "./reading.ts";
import type { Location, Violations } from "./violations.ts";

/** The limits of one request. Each of them limits the work of a store. */
export const figureLimits = { figures: 10, group: 5, sort: 5 } as const;

const figureShape = new RegExp(`^(${attributeFigures.join("|")})\\((.*)\\)$`, "s");

/** Reads the figures of `aggregate`. Adds violations. */
export function readFigures(
  texts: readonly string[],
  location: Location,
  reading: Reading,
): readonly Figure[] {
  const { violations } = reading;
  if (!isWithin(texts, figureLimits.figures, location, violations)) return [];
  return texts.flatMap((name): Figure[] => {
    if (name === "count" || name === "count()") return [{ kind: "count", name }];
    const [, kind, attributeName] = figureShape.exec(name) ?? [];
    if (kind === undefined || attributeName === undefined) {
      violations.add(
        location,
        "figure",
        `names ${shortJson(name)}, which is not a figure. ${figureAdvice(name)}`,
      );
      return [];
    }
    const attribute = readAttribute(attributeName, location, reading);
    if (attribute === undefined) return [];
    if (kind === "sum" || kind === "avg") requireType("number", name, { attribute, location, violations });
    const compared = kind === "min" || kind === "max" ? comparedAs(attribute) : {};
    return [{ kind: kind as (typeof attributeFigures)[number], name, path: attribute.path, ...compared }];
  });
}

function figureAdvice(name: string): string {
  if (/^count\(.+\)$/.test(name))
    return 'Write "count", and a filter such as "name:exists=true" to count fewer resources';
  return `Figures are count, ${attributeFigures.map((kind) => `${kind}(attribute)`).join(", ")}`;
}

/** Reads the keys of `group` or `distinct`: attributes, dates with a unit such as `placedAt:month`. Adds violations. */
export function readKeys(
  texts: readonly string[],
  location: Location,
  reading: Reading,
): readonly GroupKey[] {
  const { violations } = reading;
  if (!isWithin(texts, figureLimits.group, location, violations)) return [];
  return texts.flatMap((name): GroupKey[] => {
    const cut = name.lastIndexOf(":");
    const unit = cut === -1 ? undefined : name.slice(cut + 1);
    if (unit !== undefined && !Object.hasOwn(dateUnits, unit)) {
      const known = Object.keys(dateUnits).join(", ");
      violations.add(location, "unit", `names ${shortJson(name)}, but the units of dates are ${known}`);
      return [];
    }
    const attribute = readAttribute(cut === -1 ? name : name.slice(0, cut), location, reading);
    if (attribute === undefined) return [];
    if (unit !== undefined && attribute.dates === undefined)
      requireType("string", name, { attribute, location, violations });
    return [{ name, path: attribute.path, ...comparedAs(attribute), unit: unit as DateUnit | undefined }];
  });
}

/** Refuses a figure or unit that would ignore all values that the schema allows. */
function requireType(
  type: AttributeType,
  name: string,
  { attribute, location, violations }: { attribute: Attribute; location: Location; violations: Violations },
): void {
  const { types } = attribute;
  if (types === undefined || types.has(type)) return;
  const detail = `names ${shortJson(name)}, which needs a ${type}, but the attribute is always ${[...types].join(" or ")}`;
  violations.add(location, "figureType", detail);
}

function isWithin(
  texts: readonly string[],
  most: number,
  location: Location,
  violations: Violations,
): boolean {
  if (texts.length <= most) return true;
  violations.add(location, "tooMany", `must have at most ${most} names, but has ${texts.length}`);
  return false;
}

/** Two members of a group cannot have the same name. Adds a violation. */
export function requireDifferent(
  all: readonly { name: string }[],
  location: Location,
  violations: Violations,
): void {
  const names = all.map(({ name }) => name);
  const repeated = names.find((name, n) => names.indexOf(name) < n);
  if (repeated === undefined) return;
  const advice =
    repeated === "count"
      ? '. To count the groups of the attribute "count", write "group=count&aggregate=count()"'
      : "";
  violations.add(
    location,
    "repeated",
    `would give two members with the name ${shortJson(repeated)}${advice}`,
  );
}

/** Reads the sort keys: names of `group` and `aggregate`. Adds violations. */
export function readFigureSort(
  texts: readonly string[],
  { figures, group }: Pick<FigureContents, "figures" | "group">,
  location: Location,
  violations: Violations,
): readonly FigureSortKey[] {
  if (!isWithin(texts, figureLimits.sort, location, violations)) return [];
  const known = [...group, ...figures].map(({ name }) => name);
  return texts.flatMap((text): FigureSortKey[] => {
    const name = /^[+-]/.test(text) ? text.slice(1) : text;
    const place = known.indexOf(name);
    if (place === -1) {
      const names = known.length === 0 ? "" : ` The names are ${known.join(", ")}`;
      const detail = `names ${shortJson(name)}, but groups are sorted by the names in "group" and "aggregate".${names}`;
      violations.add(location, "sort", detail);
      return [];
    }
    const descending = text.startsWith("-");
    return place < group.length
      ? [{ of: "group", place, descending }]
      : [{ of: "figures", place: place - group.length, descending }];
  });
}
