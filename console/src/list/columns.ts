/** The columns of a table: which attributes there are, and which of them the user has chosen. */
import type { CollectionDetails } from "holdfast-client";
import { useState } from "react";
import { type Kind, kindOf, kindOfValues, propertiesOf, titleNames } from "../service/schema.ts";
import type { Resource } from "../service/session.ts";

/** A column. */
export interface Column {
  name: string;
  kind: Kind;
  /** The collection that the attribute refers to. */
  target?: string;
  /** What sorts a reference by the title of its resource, such as `author.name`. */
  titlePath?: string;
  /** The values of an enumeration. */
  choices?: readonly string[];
}

/** Whether the values of a column stand on its right. */
export function isNumber(kind: Kind): boolean {
  return kind === "number" || kind === "integer" || kind === "exact";
}

/** The attributes that the service keeps. */
const timestamps = ["createdAt", "updatedAt"];

/** How many columns are shown until the user chooses. */
const usual = 8;

/**
 * All columns of a collection: from its schema, and from the resources that are shown. `id` comes first. `titleIn` names the
 * attribute that is the title of the resources of another collection.
 */
export function columnsOf(
  info: CollectionDetails | undefined,
  items: readonly Resource[],
  titleIn: (collection: string) => string | undefined = () => undefined,
): Column[] {
  const properties = propertiesOf(info);
  const targets = new Map(info?.references.map(({ attribute, collection }) => [attribute, collection]));
  const found = new Map<string, Kind>(
    Object.entries(properties).map(([name, part]) => [name, kindOf(part)] as const),
  );
  for (const item of items.slice(0, 200))
    for (const name of Object.keys(item)) if (!found.has(name)) found.set(name, "any");
  found.delete("id");
  if (info?.timestamps === true) for (const name of timestamps) found.set(name, "time");
  return [
    { name: "id", kind: "id" },
    ...[...found].map(([name, kind]): Column => {
      const target = targets.get(name);
      if (target !== undefined) {
        const titlePath = titlePathOf(info, name, titleIn(target));
        return { name, kind: "reference", target, ...(titlePath !== undefined && { titlePath }) };
      }
      const part = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (kind === "choice" && typeof part === "object")
        return { name, kind, choices: [...new Set((part.enum ?? []).map(String))] };
      return {
        name,
        kind: kind === "any" ? kindOfValues(items.slice(0, 50).map((item) => item[name])) : kind,
      };
    }),
  ];
}

/** The path to the title of the one resource that a reference names. */
function titlePathOf(
  info: CollectionDetails | undefined,
  name: string,
  title: string | undefined,
): string | undefined {
  if (title === undefined) return undefined;
  const relation = info?.relations.find(
    ({ kind, attribute, list }) => kind === "reference" && attribute === name && !list,
  );
  return relation && `${relation.name}.${title}`;
}

/** The width of a column until the user changes it, in pixels. */
const widths: Record<Kind, number> = {
  id: 146,
  text: 230,
  long: 260,
  number: 100,
  integer: 100,
  exact: 120,
  boolean: 100,
  time: 140,
  date: 120,
  choice: 120,
  list: 180,
  object: 200,
  reference: 150,
  any: 180,
};
export const narrowest = 60;
const widest = 1200;

/** What the user has chosen of a table. The browser keeps it. */
export interface Choice {
  /** The columns that are shown, in order. */
  names?: readonly string[] | undefined;
  widths?: Readonly<Record<string, number>>;
}

/** The width of a column, in pixels. */
export function widthOf({ name, kind }: Column, choice: Choice): number {
  return Math.min(widest, Math.max(narrowest, choice.widths?.[name] ?? widths[kind]));
}

/**
 * The columns that are shown. Without a choice, these are the first ones, and the times of the service. On a narrow page, the first
 * column is what people call a resource by.
 */
export function shownColumns(all: readonly Column[], { names }: Choice, isNarrow = false): Column[] {
  const byName = new Map(all.map((each) => [each.name, each]));
  const chosen = (names ?? []).flatMap((name) => byName.get(name) ?? []);
  if (chosen.length > 0) return chosen;
  const last = byName.get("updatedAt");
  const others = all.filter(({ name }) => !timestamps.includes(name));
  const title = isNarrow
    ? titleNames.map((name) => byName.get(name)).find((each) => each?.kind === "text")
    : undefined;
  const first = [...new Set([...(title === undefined ? [] : [title]), ...others])].slice(0, usual);
  return last?.kind === "time" ? [...first.slice(0, usual - 1), last] : first;
}

/** The columns in view, as the first one and the one after the last. The first column always is. */
export function columnsInView(columns: readonly Column[], choice: Choice, left: number, width: number): Span {
  if (columns.length <= fewColumns) return { from: 1, to: columns.length };
  const margin = 600;
  let [at, from, to] = [0, columns.length, 1];
  columns.forEach((each, n) => {
    const end = at + widthOf(each, choice);
    if (n > 0 && end > left - margin && at < left + width + margin) {
      from = Math.min(from, n);
      to = n + 1;
    }
    at = end;
  });
  return { from: Math.min(from, to), to };
}

/** So few columns are all in the page. */
const fewColumns = 20;

interface Span {
  from: number;
  to: number;
}

/** The names after a column has moved to the place of another one. */
export function moveColumn(names: readonly string[], name: string, to: number): string[] {
  const others = names.filter((each) => each !== name);
  others.splice(Math.max(0, Math.min(to, others.length)), 0, name);
  return others;
}

/** The choice of a collection, which the browser keeps. */
export function useChoice(collection: string) {
  const key = `holdfast.columns.${collection}`;
  const [kept, setKept] = useState(() => ({ key, choice: readKept(key) }));
  const choice = kept.key === key ? kept.choice : readKept(key);
  const choose = (next: Choice) => {
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {} // a browser can refuse to keep anything
    setKept({ key, choice: next });
  };
  return { choice, choose };
}

function readKept(key: string): Choice {
  try {
    return readChoice(JSON.parse(localStorage.getItem(key) ?? "null"));
  } catch {
    return {};
  }
}

/** The choice in a value that the browser has kept. Drops what is not of the right type. */
export function readChoice(kept: unknown): Choice {
  if (typeof kept !== "object" || kept === null) return {};
  const { names, widths } = kept as { names?: unknown; widths?: unknown };
  const pairs = Object.entries(typeof widths === "object" && widths !== null ? widths : {});
  return {
    ...(Array.isArray(names) && names.every((each) => typeof each === "string") && { names }),
    widths: Object.fromEntries(pairs.filter(([, width]) => Number.isFinite(width))),
  };
}
