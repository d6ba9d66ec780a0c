/** Reads the parameter `fields`: `title,author.name`, `-body` for all attributes but this one, or `*,author.name`. */
import type { Collection } from "../collection/collection.ts";
import { shortJson } from "../collection/messages.ts";
import type { Fields } from "../collection/visibility.ts";
import type { Embed } from "./embed-request.ts";
import { type Reading, readAttribute } from "./reading.ts";
import { usableRelation } from "./related-resources.ts";
import type { Location } from "./violations.ts";

/** The attributes in the response, and those of the embedded resources. */
export interface ChosenFields {
  /** `undefined`: all. */
  fields: Fields | undefined;
  embeds: readonly Embed[];
}

const maxFields = 1_000;

/** What a request says about the resources of one level. */
interface Level {
  collection: Collection;
  only: Set<string> | undefined;
  without: Set<string>;
  /** Whether a name leads through this level. Then it has only what the names choose. */
  isPassed: boolean;
  /** Whether `*` chooses all attributes. */
  isWhole: boolean;
  /** By the names of their relations. */
  inner: Map<string, Level>;
}

/** Reads the names. A name with a dot leads through a relation that `embeds` has. Adds violations. */
export function readFieldNames(
  names: readonly string[] | undefined,
  location: Location,
  reading: Reading,
  embeds: readonly Embed[] = [],
): ChosenFields {
  if (names === undefined) return { fields: undefined, embeds };
  if (names.length > maxFields) {
    const most = maxFields.toLocaleString("en");
    reading.violations.add(location, "fields", `must name at most ${most} attributes`);
    return { fields: undefined, embeds };
  }
  const root = levelOf(reading.collection, embeds);
  for (const name of names) readName(name, { root, location, reading });
  return chosen(root, embeds);
}

function levelOf(collection: Collection, embeds: readonly Embed[]): Level {
  const inner = embeds.map((each) => [each.relation.name, levelOf(each.target, each.embeds)] as const);
  const nothing = { only: undefined, without: new Set<string>(), isPassed: false, isWhole: false };
  return { collection, ...nothing, inner: new Map(inner) };
}

function chosen(level: Level, embeds: readonly Embed[]): ChosenFields {
  const { inner } = level;
  const chosenEmbeds = embeds.map((each) => {
    const level = inner.get(each.relation.name);
    return level === undefined ? each : { ...each, ...chosen(level, each.embeds) };
  });
  return { fields: fieldsOf(level), embeds: chosenEmbeds };
}

function fieldsOf({ only, without, isPassed, isWhole }: Level): Fields | undefined {
  if (without.size > 0) return { kind: "without", names: without };
  if (isWhole) return undefined;
  if (only !== undefined) return { kind: "only", names: only };
  return isPassed ? { kind: "only", names: new Set(["id"]) } : undefined;
}

interface Names {
  root: Level;
  location: Location;
  reading: Reading;
}

function readName(written: string, { root, location, reading }: Names): void {
  const { violations } = reading;
  const isLeftOut = written.startsWith("-");
  const name = isLeftOut ? written.slice(1) : written;
  const { levels, level, rest } = levelFor(name, root);
  const refuse = (detail: string) => violations.add(location, "fields", detail);
  if (rest === undefined) {
    if (!isLeftOut) for (const each of levels) each.isPassed = true;
    else refuse(`leaves out ${shortJson(name)}, which "embed" asks for. Leave it out there`);
    return;
  }
  if (rest === "*") {
    if (isLeftOut) refuse(`leaves out ${shortJson(name)}. Name the attributes to leave out`);
    for (const each of levels) each.isPassed = true;
    level.isWhole = true;
    return;
  }
  const shown = name.slice(0, name.length - rest.length);
  const [first = "", ...others] = rest.split(".");
  if (others.length > 0 && reading.viewOf && usableRelation(level.collection, first, reading.viewOf)) {
    refuse(`names ${shortJson(name)} of a relation that "embed" does not name. Add "embed=${shown}${first}"`);
    return;
  }
  const attribute = readAttribute(rest, location, { ...reading, collection: level.collection });
  if (attribute === undefined) return;
  const [top] = attribute.path;
  if (attribute.path.length > 1) {
    const whole = shortJson(shown + top);
    refuse(`names ${shortJson(name)}, but takes only whole attributes, such as ${whole}`);
  } else if (!isLeftOut) {
    for (const each of levels) each.isPassed = true;
    level.only ??= new Set(["id"]);
    level.only.add(top);
  } else if (top === "id") refuse('leaves out "id", which each resource has in a response');
  else level.without.add(top);
  if (level.only !== undefined && level.without.size > 0)
    refuse(
      `both names attributes and leaves out ${shortJson(shown + [...level.without][0])}. Do one of them`,
    );
}

/** The level of an attribute, and those on the way to it. Without `rest`, the name is that of the last relation. */
function levelFor(name: string, root: Level): { levels: Level[]; level: Level; rest: string | undefined } {
  const levels: Level[] = [];
  let level = root;
  let rest = name;
  for (;;) {
    const [first = "", ...others] = rest.split(".");
    const next = level.inner.get(first);
    if (next === undefined) return { levels, level, rest };
    levels.push(level);
    if (others.length === 0) return { levels, level: next, rest: undefined };
    level = next;
    rest = others.join(".");
  }
}
