/** What differs in the SQL of lists on PostgreSQL. */
import { foldingVersion, joiningCharacters, maxJoined } from "../../../collection/folding.ts";
import type { IdKind } from "../../../collection/ids.ts";
import { itemName, type Path } from "../../../collection/paths.ts";
import { comparedValues, type Meaning } from "../../../collection/types/declared-types.ts";
import { lengthOffset, naturalEnd } from "../../../query/natural-order.ts";
import type { SearchTerms } from "../../../query/search-words.ts";
import { ranks, sortedCodePoints } from "../../../query/sort.ts";
import {
  bind,
  compareSql,
  type ListDialect,
  literalsSql,
  type Scope,
  type SearchSql,
} from "../../core/list-sql.ts";
import type { RelatedCollections } from "../../core/related.ts";
import { isStorable } from "../../port/stored.ts";
import { postgresDialect } from "../postgres-dialect.ts";
import { type NumberedCollection, Redeclared } from "../tables/declared-catalogue.ts";
import { idSql, integerKey, keySql as keyOfIdSql, textMark } from "../tables/id-keys.ts";
import { keyText, keySql as slotSql } from "../tables/key-column.ts";
import { resourcesTable, wordsTable } from "../tables/tables.ts";

/**
 * A text as an SQL literal. Whether a backslash is an escape in plain quotes depends on a setting of the database, so
 * such texts use `E'…'`.
 */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes("\\") ? `E${quoted.replaceAll("\\", "\\\\")}` : quoted;
}

/** The attribute as `json`; null if it is absent. */
export function valueSql(path: Path): string {
  if (path.some((name) => name.includes("\0"))) return "null::json";
  return `(doc${path.map((name) => ` -> ${quoteText(name)}`).join("")})`;
}

/** The attribute as text: a string without its quotes. */
function textSql(path: Path): string {
  if (path.some((name) => name.includes("\0"))) return "null::text";
  const names = path.map(quoteText);
  const last = names.pop();
  return `(doc${names.map((name) => ` -> ${name}`).join("")} ->> ${last})`;
}

/** The rank, the number and the text that sort a value, from its type as `json_typeof` names it, and its text. */
export function orderOf(
  type: string,
  text: string,
  isNatural = false,
): readonly [rank: string, number: string, text: string] {
  const sorted = isNatural ? naturalSql(text) : `left(${text}, ${sortedCodePoints})`;
  return [
    `(case ${type} when 'string' then ${ranks.string} when 'number' then ${ranks.number}
      when 'boolean' then case ${text} when 'true' then ${ranks.true} else ${ranks.false} end
      when 'array' then ${ranks.container} when 'object' then ${ranks.container} else ${ranks.null} end)`,
    `(case ${type} when 'number' then ${text}::float8 else 0::float8 end)`,
    `(case ${type} when 'string' then ${sorted} else '' end collate "C")`,
  ];
}

/** The key of what an attribute means; null if it means nothing. */
export function meaningSql(path: Path, as: Meaning): string {
  // The inner query reads the attribute once. With an offset, PostgreSQL does not merge the two.
  return `(select ${comparedValues(as).postgresKey("value.type", "value.text")} from (
    select ${postgresLists.type(path)} as type, ${textSql(path)} as text offset 0) as value)`;
}

/**
 * The text as `foldText` makes it; null if it is null. Each character is looked up once. The inner queries read the text once, and
 * keep the database from joining the whole table for each text.
 */
function foldedSql(text: string): string {
  return `(select case when plain is null or octet_length(plain) = length(plain) then plain else (
      select case when length(folded) <= ${maxJoined} and folded ~ ${joining} then normalize(folded, NFC) else folded end
      from (select case when bool_or(length(folded) > 1) then ${expandedSql} else translate(plain,
          coalesce(string_agg(character, '' order by folded = '', character), ''),
          coalesce(string_agg(folded, '' order by folded = '', character), '')) end as folded
        from (select character, ${foldOf("found.character")} as folded from (
          select distinct character from unnest(string_to_array(plain, null)) as given (character)) as found offset 0) as changed
        where folded is not null) as joined) end collate "C"
    from (select lower(${text} collate "C") as plain offset 0) as unfolded)`;
}

/** What a character becomes; null if it stays the same. */
function foldOf(character: string): string {
  return `(select fold.folded from holdfast_folds as fold
    where fold.version = ${quoteText(foldingVersion)} and fold.character = ${character})`;
}

/** The text with each character replaced. Unlike `translate`, it can make several characters of one. */
const expandedSql = `(select string_agg(case when octet_length(given.character) = 1 then given.character
    else coalesce(${foldOf("given.character")}, given.character) end, '' order by given.place)
  from unnest(string_to_array(plain, null)) with ordinality as given (character, place))`;

/** The text as `naturalValue` makes it. */
function naturalSql(text: string): string {
  const end = `chr(${naturalEnd.codePointAt(0)})`;
  const digits = "coalesce(nullif(ltrim(part[1], '0'), ''), '0')";
  return `(select case when folded ~ '[0-9]' then (
      select string_agg(case when part[1] ~ '^[0-9]' then '0' || chr(${lengthOffset} + length(${digits})) || ${digits} else part[1] end, '' order by place)
      from regexp_matches(folded, '[0-9]+|[^0-9]+', 'g') with ordinality as parts (part, place)) else folded end || ${end} || start
    from (select start, translate(left(${foldedSql("start")}, ${sortedCodePoints}), ${end}, chr(2)) as folded from (
      select left(${text}, ${sortedCodePoints}) as start offset 0) as begun offset 0) as cut)`;
}

const joining = quoteText(`[${joiningCharacters}]`);

/** `json_array_elements` fails for a value that is not an array. */
function hasElement(path: Path, where: string): string {
  return `exists (select 1 from ${elementsSql(path)} where ${where})`;
}

function elementsSql(path: Path): string {
  const elements = `case ${postgresLists.type(path)} when 'array' then ${valueSql(path)} else '[]'::json end`;
  return `json_array_elements(${elements}) as element`;
}

function textKey(idKind: IdKind, text: string): string {
  return idKind === "integer" ? textMark + text : text;
}

/** The SQL of lists. */
const postgresLists: ListDialect = {
  ...postgresDialect,
  joinsInOrder: false,
  fence: "offset 0",
  quote: quoteText,
  rows: String,
  oneOf: (sql, values, scope) => `${sql} = any(${bind(scope, values, "text[]")})`,
  type: (path) => `json_typeof(${valueSql(path)})`,
  json: (path) => `${valueSql(path)}::text`,
  typed(path, type) {
    const value = type === "number" ? `${textSql(path)}::float8` : `${textSql(path)} collate "C"`;
    return `(case ${postgresLists.type(path)} when '${type}' then ${value} end)`;
  },
  key: meaningSql,
  hasItem: (path, values, scope) =>
    hasElement(
      path,
      postgresLists.oneOf(
        "element.value::text",
        values.map((value) => JSON.stringify(value)),
        scope,
      ),
    ),
  hasKey(path, keys, as, scope) {
    const key = comparedValues(as).postgresKey("json_typeof(element.value)", "(element.value #>> '{}')");
    return hasElement(path, postgresLists.oneOf(key, keys, scope));
  },
  folded: foldedSql,
  hasFolded(path, condition) {
    const text = "(case json_typeof(element.value) when 'string' then element.value #>> '{}' end)";
    return hasElement(path, condition(foldedSql(text)));
  },
  hasObject: (path, where) => `exists (select 1 from (
      select ('{"${itemName}":' || element.value::text || '}')::json as doc from ${elementsSql(path)}
      where json_typeof(element.value) = 'object' offset 0) as item where ${where})`,
  suffix: (text, length) => `right(${text}, ${length})`,
  sortTerms: (path, isNatural) => orderOf(postgresLists.type(path), textSql(path), isNatural),
  sortValues: (value) => [
    typeof value === "number" ? value : 0,
    typeof value === "string" && isStorable(value) ? value : "",
  ],
  /** A number matches only integer ids. A string never matches an integer id. */
  keyOfValue(kind, value) {
    if (typeof value === "string") return isStorable(value) ? textKey(kind, value) : undefined;
    return kind === "integer" && Number.isSafeInteger(value) ? integerKey(value) : undefined;
  },
  compareId(kind, value, scope) {
    const { table, collection } = scope;
    const { idKind } = collection;
    const key = `${table}.key`;
    if (typeof value === "string") {
      const compared = compareSql(key, kind, value, scope, (text) => textKey(idKind, text));
      return idKind === "integer" ? `(${key} >= '${textMark}' and ${compared})` : compared;
    }
    if (idKind !== "integer") return "false";
    const isInteger = `${key} < '${textMark}'`;
    const isUpwards = kind.startsWith("g");
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
      return isUpwards === value < 0 ? `(${isInteger})` : "false";
    const floor = Math.floor(value);
    // Between two integers, a comparison with the lower one gives the same result.
    const known = floor === value ? kind : isUpwards ? "gt" : "lte";
    return `(${isInteger} and ${compareSql(key, known, integerKey(floor), scope)})`;
  },
  textId({ table, collection }) {
    if (collection.idKind !== "integer") return `${table}.key`;
    return `(case when ${table}.key >= '${textMark}' then substr(${table}.key, 2) end)`;
  },
  idSql,
  keySql: keyOfIdSql,
  keyed: (number, table) => `${resourcesTable(number)} as ${table}`,
  keyColumnOf: (slot, table) => `${table}.${slotSql(slot)}`,
  ofSlot: () => [],
  bytes: keyText,
  search: searchSql,
};

/**
 * The context of a statement about the resources of a collection. `valueAt`: how the statement names its values, for example the
 * columns of a row of values. @default parameters
 */
export function scopeOf(
  collection: NumberedCollection,
  related: RelatedCollections = {},
  valueAt: Scope["valueAt"] = (place, type) => `$${place}::${type}`,
): Scope {
  return { dialect: postgresLists, collection, table: "resource", related, first: [], values: [], valueAt };
}

/** The parameters of BM25, with SQLite's values. */
const k1 = 1.2;
const b = 0.75;

/** Greater than every character of a word. */
const lastCharacter = "\u{10ffff}";

/** The search for resources that contain all terms. */
function searchSql(terms: SearchTerms, scope: Scope): SearchSql {
  const { number, search } = scope.collection;
  if (search.length === 0) throw new Redeclared(); // it has no table of words
  const table = wordsTable(number);
  const readsTexts = terms.literals.length > 0;
  const ranges = [
    ...terms.beginnings.map((word) => {
      const [from, to] = [bind(scope, word, "text"), bind(scope, word + lastCharacter, "text")];
      return `word >= ${from} and word < ${to}`;
    }),
    ...terms.whole.map((word) => `word = ${bind(scope, word, "text")}`),
  ];
  const hits = ranges.map((range, n) => {
    return `hits_${n} as (select key, sum(times)::float8 as times from ${table} where ${range} group by key)`;
  });
  const weights = ranges.map(
    (_, n) => `(select greatest(ln((head.count - found + 0.5) / (found + 0.5)), 0.000001)
      from (select count(*)::float8 as found from hits_${n}) as counted) as weight_${n}`,
  );
  const state = `words_state as (select ${weights.join(", ")},
    head.words::float8 / greatest(head.count, 1) as average
    from holdfast_heads as head where head.number = ${number})`;
  const joined = ranges.map((_, n) => `join hits_${n} on hits_${n}.key = resource.key`).join(" ");
  const length = `join ${table} as length on length.word = '' and length.key = resource.key`;
  return {
    with: `with ${[...hits, state].join(", ")}`,
    from: `${resourcesTable(number)} as resource ${joined} ${length} cross join words_state`,
    // PostgreSQL must not read the texts of resources without the words, so the condition depends on the hits.
    where: readsTexts ? [`(case when hits_0.times > 0 then ${literalsSql(terms, scope)} end)`] : [],
    order: { sql: ranges.map((_, n) => scoreOf(n)).join(" + "), descending: true },
    readsTexts,
  };
}

function scoreOf(n: number): string {
  const share = `${1 - b} + ${b} * length.times / words_state.average`;
  const times = `hits_${n}.times`;
  return `weight_${n} * (${times} * ${k1 + 1}) / (${times} + ${k1} * (${share}))`;
}
