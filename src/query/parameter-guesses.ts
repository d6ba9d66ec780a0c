/** What other servers call the parameters of a list, and what to write here instead. */
import { parameter } from "./example.ts";
import { asParameters } from "./operator-guesses.ts";
import { isDirection, sortMeantBy } from "./sort-guesses.ts";

/** Finds the value of another parameter of the same request by its plain names; `undefined` where there is none. */
export type Others = (...names: readonly string[]) => string | undefined;

/** A part of a query string to be written instead, or a sentence where there is none. */
export type Meant = { write: string } | { say: string };

type Guess = (value: string, others: Others) => Meant;

const as =
  (name: string): Guess =>
  (value) => ({ write: parameter(name, value) });

/** What other servers do with a token. */
export const useCursor: Meant = {
  say: 'Follow the link "next" of the answer: it has the "cursor" of the next page',
};

const orderNames = ["orderby", "sortby", "ordering", "order"] as const;
const directionNames = ["order", "sortorder", "sortdir", "sortdirection", "direction", "dir"] as const;

/** Every guess, by the names that lead to it: in small letters, without `_`, `-` and `$`. */
const guesses: readonly [names: string, guess: Guess][] = [
  ["page pagenumber pagenum pageno pageindex", as("_page")],
  ["perpage pagesize size itemsperpage resultsperpage", as("_per_page")],
  ["top take first max maxresults rows", as("limit")],
  ["skip start from", as("offset")],
  [
    "after before pagetoken nexttoken nextpagetoken continuationtoken startingafter startafter",
    () => useCursor,
  ],
  [[...new Set([...orderNames, ...directionNames])].join(" "), sortGuess],
  ["search query text keyword keywords term", as("q")],
  ["select columns only attributes properties projection field", as("fields")],
  [
    "expand include embed populate join with relations",
    () => ({
      say: 'Other resources are not embedded: request them from their own collection, such as with "id:in=1,2"',
    }),
  ],
  ["where filter filters criteria conditions predicate", filterGuess],
  ["total totalcount withcount withtotal includetotal inlinecount count", () => ({ write: "count=exact" })],
  ["format", () => ({ say: 'A header asks for the format, such as "Accept: text/csv"' })],
  ["ids", as("id:in")],
];

const guessByName = new Map(
  guesses.flatMap(([names, guess]) => names.split(" ").map((name) => [name, guess])),
);

/** What `name` means with this value; `undefined` where the table does not have it. */
export function guessedParameter(name: string, value: string, others: Others): Meant | undefined {
  return guessByName.get(plainName(name))?.(value, others);
}

/** A name as the tables have it. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_$-]/g, "");
}

function sortGuess(value: string, others: Others): Meant {
  const isWord = isDirection(value);
  const attributes = isWord ? others("sort", ...orderNames) : value;
  const direction = isWord ? value : others(...directionNames);
  if (attributes === undefined || isDirection(attributes))
    return { say: 'A "-" before the attribute sorts it in descending order, such as "sort=-name"' };
  return {
    write: parameter("sort", sortMeantBy(attributes, isDirection(direction ?? "") ? direction : "asc")),
  };
}

const oData = /^([\w./]+) (eq|ne|gt|ge|lt|le) (?:'([^']*)'|(\S+))$/;

/** JSON is the value of `filter`; a comparison of OData is a parameter of its own. */
function filterGuess(value: string): Meant {
  const [, name, operator, quoted, bare] = oData.exec(value) ?? [];
  const comparison =
    name === undefined || operator === undefined
      ? undefined
      : asParameters(name.replaceAll("/", "."), operator, [quoted ?? bare ?? ""]);
  if (comparison !== undefined) return { write: comparison };
  return { write: value.startsWith("{") ? parameter("filter", value) : 'filter={"name":"value"}' };
}
