/** Whether a store has everything that one client was told, and its next request completely or not at all. */
import { isDeepStrictEqual } from "node:util";
import { type ClientLog, counters, type Fields, type Request, type State, stateAfter } from "./actor.ts";
import type { Parse } from "./judge-contents.ts";
import type { Change, Contents } from "./store-file.ts";

/** What the judge of a client knows about the store. */
export interface Store {
  contents: Contents;
  parse: Parse;
  keepsAll: boolean;
}

/**
 * The faults for a client of which at least `least` requests have taken effect, and at most `most`. By default, the request in progress
 * can have taken effect.
 */
export function faultsOfClient(client: ClientLog, store: Store, least: number, most = least + 1): string[] {
  const histories = historiesOf(client, store);
  let first: string[] | undefined;
  for (let done = least; done <= Math.min(most, client.requests.length); done++) {
    const faults = faultsAfter(client, store, { done, least, histories });
    if (faults.length === 0) return faults;
    first ??= faults;
  }
  return first ?? [];
}

interface Outcome {
  /** How many requests have taken effect. */
  done: number;
  /** How many of them have a response. */
  least: number;
  histories: ReadonlyMap<string, Versions>;
}

function faultsAfter(client: ClientLog, store: Store, outcome: Outcome): string[] {
  const expected = stateAfter(client, outcome.done);
  const found = new Map(
    [...outcome.histories].flatMap(([address, versions]) => {
      const current = versions.at(-1);
      return current ? [[address, current] as const] : [];
    }),
  );
  if (!isState(expected, found))
    return [
      `${client.client}: after ${outcome.least} acknowledged requests there are ${describe(found, expected)}`,
    ];
  return [
    ...faultsOfHistories(client, store, outcome),
    ...faultsOfReceipts(client, store, outcome),
    ...faultsOfCounters(client, store, outcome),
    ...faultsOfReads(client, store, outcome),
  ];
}

/** What a resource was after each of its changes. `undefined`: it was deleted. */
type Versions = readonly (Fields | undefined)[];

/** The resources that the client has or had, by collection and mark. */
function historiesOf({ client }: ClientLog, { contents, parse }: Store): Map<string, Versions> {
  const histories = new Map<string, Versions>();
  const fieldsOf = (text: string) => {
    const { id: _, ...fields } = parse(text);
    return fields as Fields;
  };
  for (const { name, changes, resources } of contents.collections) {
    const current = new Map(resources.map(({ id, text }) => [id, text]));
    const logged = Map.groupBy(changes, (change) => change.id);
    for (const id of new Set([...logged.keys(), ...current.keys()])) {
      const texts = logged.get(id)?.map(({ text }) => text) ?? [undefined];
      // The resource itself, and not what the log says about it.
      texts[texts.length - 1] = current.get(id);
      const versions = texts.map((text) => (text === undefined ? undefined : fieldsOf(text)));
      const own = versions.find((fields) => fields !== undefined);
      if (own?.client === client) histories.set(`${name}/${own.mark}`, versions);
    }
  }
  return histories;
}

function isState(expected: State | undefined, found: State): boolean {
  if (expected === undefined || expected.size !== found.size) return false;
  return [...expected].every(([address, fields]) => isSame(fields, found.get(address)));
}

/** A client does not know the id of an author before the response. */
function isSame(expected: Fields, found: Fields | undefined): boolean {
  if (found === undefined) return false;
  const { authorId, ...others } = expected;
  const { authorId: foundAuthor, ...foundOthers } = found;
  return isDeepStrictEqual(others, foundOthers) && (authorId === undefined || authorId === foundAuthor);
}

/** The history of each resource has its states after each request, in order. An erased resource has none. */
function faultsOfHistories(client: ClientLog, { keepsAll }: Store, { done, histories }: Outcome): string[] {
  const states = Array.from({ length: done + 1 }, (_, n) => stateAfter(client, n) as State);
  const erased = new Set(erasedBefore(client, done).map(({ address }) => address));
  const addresses = new Set([...states.flatMap((state) => [...state.keys()]), ...histories.keys()]);
  const wrong = [...addresses].filter((address) => {
    const expected: (Fields | undefined)[] = [];
    for (const fields of erased.has(address) ? [] : states.map((state) => state.get(address)))
      if (!isDeepStrictEqual(expected.at(-1), fields)) expected.push(fields);
    const found = histories.get(address) ?? [];
    const kept = keepsAll ? expected : expected.slice(expected.length - found.length);
    return kept.length !== found.length || !kept.every((fields, n) => isVersion(fields, found[n]));
  });
  return wrong.map(
    (address) => `${client.client}: the history of ${address} has other versions than were written`,
  );
}

function isVersion(expected: Fields | undefined, found: Fields | undefined): boolean {
  return expected === undefined ? found === undefined : isSame(expected, found);
}

/** What the first requests of a client have erased. */
export function erasedBefore({ requests }: ClientLog, done: number): NonNullable<Request["erases"]>[] {
  return requests.slice(0, done).flatMap(({ erases }) => erases ?? []);
}

/** A receipt exists if and only if its write does, and it has the response that the client got. */
function faultsOfReceipts(client: ClientLog, { contents }: Store, { done, least }: Outcome): string[] {
  const erased = erasedBefore(client, done);
  const kept = new Map(contents.receipts.map(([key, answer]) => [/key-c\d-\d+-/.exec(key)?.[0], answer]));
  return client.requests.flatMap(({ key, body, isRefused }, n) => {
    if (key === undefined || isRefused === true) return [];
    if (erased.some(({ id }) => body?.includes(id))) return []; // an erasure removes these responses
    const answer = kept.get(key);
    const exists = answer !== undefined;
    if (exists !== n < done) return [`${key} is ${exists ? "there" : "lost"} after ${done} requests`];
    if (!exists || n >= least || body === undefined) return [];
    return (JSON.parse(answer) as { body?: string }).body === body
      ? []
      : [`${key} has another response than the client got`];
  });
}

/** The counters have exactly what the client has added, in its order. */
function faultsOfCounters(client: ClientLog, { contents, parse }: Store, { done }: Outcome): string[] {
  const all = contents.collections.find(({ name }) => name === "counters")?.resources ?? [];
  return counters.flatMap((counter) => {
    const text = all.find(({ id }) => id === counter)?.text;
    const { log = [] } = text === undefined ? {} : (parse(text) as { log?: string[] });
    const found = log.filter((entry) => entry.startsWith(`${client.client}.`));
    const expected = client.requests.slice(0, done).flatMap(({ counts, isRefused }) => {
      return counts?.counter === counter && isRefused !== true ? [counts.text] : [];
    });
    return found.join() === expected.join()
      ? []
      : [`${client.client}: the counter ${counter} has ${found}, but the client has added ${expected}`];
  });
}

/** What a client has read does not get lost. */
function faultsOfReads(client: ClientLog, { contents, keepsAll }: Store, { least }: Outcome): string[] {
  if (!keepsAll) return [];
  const logs = new Map(
    contents.collections.map(({ name, changes }) => [name, Map.groupBy(changes, ({ id }) => id)]),
  );
  const answered = client.requests.slice(0, least);
  const lost = answered
    .flatMap(({ sights }) => sights ?? [])
    .filter(({ collection, id, text }) => {
      const isSeen = (change: Change) => change.text === text;
      return logs.get(collection)?.get(id)?.some(isSeen) !== true;
    });
  const books = contents.collections.find(({ name }) => name === "books");
  const followed = client.followed.slice(0, Math.max(0, ...answered.map(({ followed }) => followed ?? 0)));
  const logged = books?.changes.slice(0, followed.length).map(({ id, version }) => `${id}/${version}`) ?? [];
  return [
    ...lost.map(
      ({ collection, id }) => `${client.client} has read a state of ${collection}/${id} that is lost`,
    ),
    ...(followed.join() === logged.join()
      ? []
      : [
          `${client.client} has received other changes of books than the first ${followed.length}, from number ${followed.findIndex((each, n) => each !== logged[n]) + 1}`,
        ]),
  ];
}

function describe(found: State, expected: State = new Map()): string {
  const missing = [...expected.keys()].filter((address) => !found.has(address));
  const other = [...found].filter(([address, fields]) => {
    const own = expected.get(address);
    return own === undefined || !isSame(own, fields);
  });
  return `${found.size} resources; missing: ${missing.slice(0, 3)}; different: ${other.map(([address]) => address).slice(0, 3)}`;
}
