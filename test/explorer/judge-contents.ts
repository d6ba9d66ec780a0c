/** Whether the parts of a store agree with each other, whatever the clients were told. */
import type { Change, Collection, Contents, Resource } from "./store-file.ts";

/** Reads the text of a resource. */
export type Parse = (text: string) => Readonly<Record<string, unknown>>;

/**
 * The contradictions inside a store. `parse` is `JSON.parse`, once for each text: most images have the same texts. `keepsAll`: whether
 * the store keeps all changes.
 */
export function faultsOfContents(
  { collections, receipts, totals, damage }: Contents,
  { parse, keepsAll }: { parse: Parse; keepsAll: boolean },
): string[] {
  const answers = receipts.reduce((total, [, answer]) => total + Buffer.byteLength(answer), 0);
  return [
    ...collections.flatMap((collection) =>
      [
        ...faultsOfHead(collection, keepsAll),
        ...faultsOfIds(collection, parse),
        ...faultsOfLog(collection, keepsAll),
        ...faultsOfUnique(collection, parse),
        ...faultsOfReferences(collection, collections, parse),
        ...faultsOfWords(collection, parse),
      ].map((fault) => `${collection.name}: ${fault}`),
    ),
    ...differing("receipts", receipts.length, totals.receipts),
    ...differing("bytes of stored responses", answers, totals.answers),
    ...damage,
  ];
}

function differing(what: string, found: number, said: number | undefined): string[] {
  return found === said ? [] : [`there are ${found} ${what}, but the store says ${said}`];
}

/** The log has all changes, except those before its first one where old changes are removed, and those of erased resources. */
function faultsOfHead(
  { resources, changes, sequence, gapsUpTo, count }: Collection,
  keepsAll: boolean,
): string[] {
  const first = keepsAll ? 1 : (changes[0]?.sequence ?? sequence + 1);
  const expected = sequence + 1 - Math.max(first, gapsUpTo + 1);
  const whole = changes.filter(({ sequence }) => sequence > gapsUpTo);
  const isWhole = changes.every((change, n) => n === 0 || change.sequence > (changes[n - 1]?.sequence ?? 0));
  const start = Math.max(first, gapsUpTo + 1);
  return [
    ...differing("resources", resources.length, count),
    ...differing("changes", whole.length, expected),
    ...(isWhole && whole.every((change, n) => change.sequence === start + n)
      ? []
      : ["the change log has a gap"]),
  ];
}

/** The id in a text is the id of its row, and no id can be given twice. */
function faultsOfIds({ resources, changes, lastId }: Collection, parse: Parse): string[] {
  const wrong = resources.filter(({ id, text }) => String(parse(text).id) !== id);
  const used = changes.filter(({ id }) => Number(id) > lastId);
  return [
    ...wrong.map(({ id }) => `the text of ${id} has another id`),
    ...used.map(({ id }) => `the id ${id} would be given again`),
  ];
}

/** Each resource is what its last change made of it, and the history has every version. */
function faultsOfLog(collection: Collection, keepsAll: boolean): string[] {
  const resources = new Map(collection.resources.map((resource) => [resource.id, resource]));
  const histories = Map.groupBy(collection.changes, ({ id }) => id);
  const unlogged = keepsAll ? [...resources.keys()].filter((id) => !histories.has(id)) : [];
  const wrong = [...histories].filter(([id, changes]) => !isHistory(changes, resources.get(id), keepsAll));
  return [
    ...unlogged.map((id) => `${id} is not in the change log`),
    ...wrong.map(([id]) => `the changes of ${id} do not lead to its version ${resources.get(id)?.version}`),
  ];
}

/** Whether the kinds and versions of the changes fit each other and the resource. An import can begin with any version. */
function isHistory(changes: readonly Change[], resource: Resource | undefined, keepsAll: boolean): boolean {
  const first = changes[0]?.version ?? 1;
  const isInOrder = changes.every(({ version, kind, text }, index) => {
    const before = index === 0 ? undefined : changes[index - 1]?.text;
    const isUnknown = !keepsAll && index === 0 && text !== undefined;
    const expected = text === undefined ? "deleted" : before === undefined ? "created" : "updated";
    return version === first + index && (isUnknown || kind === expected);
  });
  return isInOrder && (resource === undefined || resource.version === changes.at(-1)?.version);
}

function faultsOfUnique({ unique, resources }: Collection, parse: Parse): string[] {
  return unique.flatMap((attribute) => {
    const values = resources.map(({ text }) => parse(text)[attribute]);
    return new Set(values).size === values.length ? [] : [`two resources have the same ${attribute}`];
  });
}

function faultsOfReferences(
  { references, referring, resources }: Collection,
  collections: readonly Collection[],
  parse: Parse,
): string[] {
  const expected = references.flatMap(({ attribute, collection }) => {
    const target = collections.find(({ name }) => name === collection);
    const ids = new Set(target?.resources.map(({ id }) => id));
    return resources.flatMap(({ id, text }) => {
      const value = parse(text)[attribute];
      return value === undefined ? [] : [{ id, value: String(value), exists: ids.has(String(value)) }];
    });
  });
  const lost = expected.filter(({ exists }) => !exists);
  const rows = expected.map(({ id, value }) => `${id} ${value}`).sort();
  const found = referring.map((row) => row.join(" ")).sort();
  return [
    ...lost.map(({ id }) => `${id} refers to a resource that does not exist`),
    ...(rows.join() === found.join() ? [] : ["the table of references differs from the resources"]),
  ];
}

/**
 * A search for any word finds exactly the resources that have it. Each title has one of two common words, so searches also show
 * words of a resource that no longer exists. The words of titles have only small letters and digits.
 */
function faultsOfWords({ search, resources, find }: Collection, parse: Parse): string[] {
  if (search.length === 0) return [];
  const words = resources.map(({ id, text }) => ({ id, own: wordsOf(parse(text), search) }));
  return [...new Set(words.flatMap(({ own }) => own))].flatMap((word) => {
    const expected = words.filter(({ own }) => own.some((each) => each.startsWith(word))).map(({ id }) => id);
    const found = find(word);
    return [...found].sort().join() === expected.sort().join()
      ? []
      : [`a search for ${word} finds ${found.length} resources, but ${expected.length} have it`];
  });
}

function wordsOf(resource: ReturnType<Parse>, search: readonly string[]): string[] {
  return search.flatMap((attribute) => String(resource[attribute] ?? "").match(/[a-z0-9]+/g) ?? []);
}
