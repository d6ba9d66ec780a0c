/** Whether a store has everything that one client was told, and its next request completely or not at all. */
import { isDeepStrictEqual } from "node:util";
import type { ClientLog, Fields, State } from "./actor.ts";
import type { Parse } from "./judge-contents.ts";
import type { Contents } from "./store-file.ts";

/** The faults for a client that received responses to its first `acknowledged` requests. */
export function faultsOfClient(
  client: ClientLog,
  acknowledged: number,
  contents: Contents,
  parse: Parse,
): string[] {
  const histories = historiesOf(client, contents, parse);
  const found = new Map(
    [...histories].flatMap(([address, versions]) => {
      const current = versions.at(-1);
      return current ? [[address, current] as const] : [];
    }),
  );
  const done = [acknowledged, acknowledged + 1].find((n) => isState(client.states[n], found));
  if (done === undefined)
    return [
      `${client.client}: after ${acknowledged} acknowledged requests there are ${describe(found, client.states[acknowledged])}`,
    ];
  return [
    ...faultsOfHistories(client, done, histories),
    ...faultsOfReceipts(client, { done, acknowledged }, contents),
  ];
}

/** What a resource was after each of its changes. `undefined`: it was deleted. */
type Versions = readonly (Fields | undefined)[];

/** The resources that the client has or had, by collection and mark. */
function historiesOf({ client }: ClientLog, { collections }: Contents, parse: Parse): Map<string, Versions> {
  const histories = new Map<string, Versions>();
  const fieldsOf = (text: string) => {
    const { id: _, ...fields } = parse(text);
    return fields as Fields;
  };
  for (const { name, changes, resources } of collections) {
    const current = new Map(resources.map(({ id, text }) => [id, text]));
    for (const [id, all] of Map.groupBy(changes, (change) => change.id)) {
      const versions = all.map(({ text }) => (text === undefined ? undefined : fieldsOf(text)));
      // The resource itself, and not what the log says about it.
      versions[versions.length - 1] = current.has(id) ? fieldsOf(current.get(id) as string) : undefined;
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

/** The history of each resource has its states after each request, in order. */
function faultsOfHistories(
  { client, states }: ClientLog,
  done: number,
  histories: ReadonlyMap<string, Versions>,
): string[] {
  const addresses = new Set([
    ...states.slice(0, done + 1).flatMap((state) => [...state.keys()]),
    ...histories.keys(),
  ]);
  const wrong = [...addresses].filter((address) => {
    const expected: (Fields | undefined)[] = [];
    for (const fields of states.slice(0, done + 1).map((state) => state.get(address)))
      if (!isDeepStrictEqual(expected.at(-1), fields)) expected.push(fields);
    const found = histories.get(address) ?? [];
    return expected.length !== found.length || !expected.every((fields, n) => isVersion(fields, found[n]));
  });
  return wrong.map((address) => `${client}: the history of ${address} has other versions than were written`);
}

function isVersion(expected: Fields | undefined, found: Fields | undefined): boolean {
  return expected === undefined ? found === undefined : isSame(expected, found);
}

/** A receipt exists if and only if its write does, and it has the response that the client got. */
function faultsOfReceipts(
  { keys, bodies }: ClientLog,
  { done, acknowledged }: { done: number; acknowledged: number },
  { receipts }: Contents,
): string[] {
  return keys.flatMap((key, n) => {
    if (key === undefined) return [];
    const [, answer] = receipts.find(([kept]) => kept.includes(key)) ?? [];
    const exists = answer !== undefined;
    if (exists !== n < done) return [`${key} is ${exists ? "there" : "lost"} after ${done} requests`];
    if (!exists || n >= acknowledged || bodies[n] === undefined) return [];
    const { body } = JSON.parse(answer) as { body?: string };
    return body === bodies[n] ? [] : [`${key} has another response than the client got`];
  });
}

function describe(found: State, expected: State = new Map()): string {
  const missing = [...expected.keys()].filter((address) => !found.has(address));
  const other = [...found].filter(([address, fields]) => {
    const own = expected.get(address);
    return own === undefined || !isSame(own, fields);
  });
  return `${found.size} resources; missing: ${missing.slice(0, 3)}; different: ${other.map(([address]) => address).slice(0, 3)}`;
}
