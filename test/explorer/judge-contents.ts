/** Whether the parts of a store agree with each other, whatever the clients were told. */
import type { LoggedChange } from "../../src/store/change-log.ts";
import type { Page } from "../../src/store/page.ts";
import { searchedWords } from "../../src/store/searched-words.ts";
import type { NumberedCollection } from "../../src/store/sqlite/file/catalogue.ts";
import type { Stored } from "../../src/store/stored.ts";

/** Reads the text of a resource. */
export type Parse = (text: string) => Readonly<Record<string, unknown>>;

/** Everything in a store. */
export interface Contents {
  collections: readonly Collection[];
  /** Key and stored response. */
  receipts: readonly (readonly [key: string, answer: string])[];
  /** The counters of the store, such as `receipts`. */
  totals: Readonly<Record<string, number>>;
  /** `JSON.parse` for a resource, once for each text: most images have the same texts. */
  parse: Parse;
}

/** Everything in one collection. */
export interface Collection extends NumberedCollection {
  resources: readonly Stored[];
  changes: readonly LoggedChange[];
  sequence: number;
  count: number;
  /** The next integer id. */
  nextId: number | undefined;
  /** The text of a version, from the history. */
  textOf(id: string, version: number): string | undefined;
  /** The resources that a search for a word finds. Throws Problem while the search index is incomplete. */
  find(word: string, limit: number): Page;
}

/** The contradictions inside a store. */
export function faultsOfContents(contents: Contents): string[] {
  const { collections, receipts, totals, parse } = contents;
  const answers = receipts.reduce((total, [, answer]) => total + Buffer.byteLength(answer), 0);
  return [
    ...collections.flatMap((collection) =>
      [
        ...faultsOfHead(collection),
        ...faultsOfIds(collection, parse),
        ...faultsOfLog(collection),
        ...faultsOfUnique(collection, parse),
        ...faultsOfReferences(collection, contents),
        ...faultsOfWords(collection),
      ].map((fault) => `${collection.name}: ${fault}`),
    ),
    ...differing("receipts", receipts.length, totals.receipts),
    ...differing("bytes of stored responses", answers, totals.answers),
  ];
}

function differing(what: string, found: number, said: number | undefined): string[] {
  return found === said ? [] : [`there are ${found} ${what}, but the store says ${said}`];
}

function faultsOfHead({ resources, changes, sequence, count }: Collection): string[] {
  const isWhole = changes.every((change, index) => change.sequence === index + 1);
  return [
    ...differing("resources", resources.length, count),
    ...differing("changes", changes.length, sequence),
    ...(isWhole ? [] : ["the change log has a gap"]),
  ];
}

/** The id in a text is the id of its row, and no id can be given twice. */
function faultsOfIds(
  { resources, changes, nextId = Number.POSITIVE_INFINITY }: Collection,
  parse: Parse,
): string[] {
  const wrong = resources.filter(({ id, text }) => String(parse(text).id) !== id);
  const used = changes.filter(({ id }) => Number(id) >= nextId);
  return [
    ...wrong.map(({ id }) => `the text of ${id} has another id`),
    ...used.map(({ id }) => `the id ${id} would be given again`),
  ];
}

/** Each resource is what its last change made of it, and the history has every version. */
function faultsOfLog(collection: Collection): string[] {
  const resources = new Map(collection.resources.map((resource) => [resource.id, resource]));
  const histories = Map.groupBy(collection.changes, ({ id }) => id);
  const unlogged = [...resources.keys()].filter((id) => !histories.has(id));
  return [
    ...unlogged.map((id) => `${id} is not in the change log`),
    ...[...histories].flatMap(([id, changes]) => faultsOfHistory(id, changes, resources.get(id), collection)),
  ];
}

function faultsOfHistory(
  id: string,
  changes: readonly LoggedChange[],
  resource: Stored | undefined,
  { textOf }: Collection,
): string[] {
  const isInOrder = changes.every(({ version, kind, superseded }, index) => {
    const expected =
      index === 0
        ? "created"
        : index === changes.length - 1 && resource === undefined
          ? "deleted"
          : "updated";
    return version === index + 1 && kind === expected && (superseded === undefined) === (index === 0);
  });
  if (!isInOrder || (resource !== undefined && resource.version !== changes.length))
    return [`the changes of ${id} do not lead to its version ${resource?.version}`];
  const isWhole = changes.every(({ superseded, version }) =>
    version === 1 ? true : textOf(id, version - 1) === superseded,
  );
  return isWhole ? [] : [`the history of ${id} has another text than its change log`];
}

function faultsOfUnique({ unique = [], resources }: Collection, parse: Parse): string[] {
  return unique.flatMap(({ path: [name = ""] }) => {
    const values = resources.map(({ text }) => parse(text)[name]);
    return new Set(values).size === values.length ? [] : [`two resources have the same ${name}`];
  });
}

function faultsOfReferences(
  { references = [], resources }: Collection,
  { collections, parse }: Contents,
): string[] {
  return references.flatMap(({ path: [name = ""], collection }) => {
    const target = collections.find((each) => each.name === collection);
    const ids = new Set<unknown>(target?.resources.map(({ id }) => id));
    const lost = resources.filter(({ text }) => {
      const value = parse(text)[name];
      return value !== undefined && !ids.has(String(value));
    });
    return lost.map(({ id }) => `${id} refers to a resource that does not exist`);
  });
}

/**
 * A search for any word finds exactly the resources that have it. Each title has one of two common words, so their totals also show
 * words of a resource that no longer exists.
 */
function faultsOfWords({ search, resources, find }: Collection): string[] {
  if (search.length === 0) return [];
  const words = resources.map(({ id, text }) => ({ id, own: searchedWords(text, search) }));
  return [...new Set(words.flatMap(({ own }) => own))].flatMap((word) => {
    const expected = words.filter(({ own }) => own.some((each) => each.startsWith(word)));
    const { items, total } = find(word, expected.length + 1);
    const found = new Set(items.map(({ id }) => id));
    const isRight = found.size === expected.length && expected.every(({ id }) => found.has(id));
    return isRight && total === expected.length
      ? []
      : [`a search for ${word} finds ${items.length} of ${total} resources, but ${expected.length} have it`];
  });
}
