/** The parameters of other servers for lists, and what to write here instead. */
import { parameter } from "./example.ts";
import { asParameters } from "./operator-guesses.ts";
import { isDirection, sortMeantBy } from "./sort-guesses.ts";

/** The value of another parameter of the request: the first of these plain names that it has; `undefined` if it has none. */
export type Others = (...names: readonly string[]) => string | undefined;

/** A part of a query string to write instead, or a sentence if there is no such part. */
export type Meant = { write: string } | { say: string };

type Guess = (value: string, others: Others) => Meant;

const as =
  (name: string): Guess =>
  (value) => ({ write: parameter(name, value) });

/** The advice for servers that page by a token. */
export const useCursor: Meant = {
  say: 'Follow the "next" link of the response: it contains the "cursor" of the next page',
};

const orderNames = ["orderby", "sortby", "ordering", "order"] as const;
const directionNames = ["order", "sortorder", "sortdir", "sortdirection", "direction", "dir"] as const;

/** The parameters of other servers, in lower case, without `_`, `-` and `$`; and what each one means. */
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
      say: 'The service does not embed other resources. Request them from their own collection, such as with "id:in=1,2"',
    }),
  ],
  ["where filter filters criteria conditions predicate", filterGuess],
  ["total totalcount withcount withtotal includetotal inlinecount count", () => ({ write: "count=exact" })],
  ["format", () => ({ say: 'Choose the format with a header, such as "Accept: text/csv"' })],
  ["ids", as("id:in")],
];

const guessByName = new Map(
  guesses.flatMap(([names, guess]) => names.split(" ").map((name) => [name, guess])),
);

/** What a parameter of another server means with this value; `undefined` if it is unknown. */
export function guessedParameter(name: string, value: string, others: Others): Meant | undefined {
  return guessByName.get(plainName(name))?.(value, others);
}

/** A name in the form of the tables of guesses: in lower case, without `_`, `-` and `$`. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_$-]/g, "");
}

function sortGuess(value: string, others: Others): Meant {
  const isWord = isDirection(value);
  const attributes = isWord ? others("sort", ...orderNames) : value;
  const direction = isWord ? value : others(...directionNames);
  if (attributes === undefined || isDirection(attributes))
    return { say: 'To sort in descending order, write "-" before the attribute, such as "sort=-name"' };
  return {
    write: parameter("sort", sortMeantBy(attributes, isDirection(direction ?? "") ? direction : "asc")),
  };
}

const oData = /^([\w./]+) (eq|ne|gt|ge|lt|le) (?:'([^']*)'|(\S+))$/;

/** JSON becomes the value of `filter`; a comparison of OData becomes its own parameter. */
function filterGuess(value: string): Meant {
  const [, name, operator, quoted, bare] = oData.exec(value) ?? [];
  const comparison =
    name === undefined || operator === undefined
      ? undefined
      : asParameters(name.replaceAll("/", "."), operator, [quoted ?? bare ?? ""]);
  if (comparison !== undefined) return { write: comparison };
  return { write: value.startsWith("{") ? parameter("filter", value) : 'filter={"name":"value"}' };
}
