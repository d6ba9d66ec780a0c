/** Whether a store has everything that one client was told, and its next request completely or not at all. */
import { isDeepStrictEqual } from "node:util";
import type { ClientLog, Fields, State } from "./actor.ts";
import type { Contents } from "./judge-contents.ts";

/** The faults for a client that received responses to its first `acknowledged` requests. */
export function faultsOfClient(client: ClientLog, acknowledged: number, contents: Contents): string[] {
  const histories = historiesOf(client, contents);
  const found = new Map(
    [...histories].flatMap(([address, { current }]) => (current ? [[address, current]] : [])),
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

/** One resource in the store. */
interface History {
  earlier: Fields[];
  current: Fields | undefined;
}

/** The resources that the client has or had, by collection and mark. */
function historiesOf({ client }: ClientLog, { collections, parse }: Contents): Map<string, History> {
  const histories = new Map<string, History>();
  for (const { name, changes, resources } of collections) {
    const historyOf = ({ mark }: Fields) => {
      const address = `${name}/${mark}`;
      const history = histories.get(address) ?? { earlier: [], current: undefined };
      histories.set(address, history);
      return history;
    };
    const own = (text: string) => {
      const { id: _, ...fields } = parse(text) as Fields;
      return fields.client === client ? [fields as Fields] : [];
    };
    for (const fields of changes.flatMap(({ superseded }) => own(superseded ?? "{}")))
      historyOf(fields).earlier.push(fields);
    for (const fields of resources.flatMap(({ text }) => own(text))) historyOf(fields).current = fields;
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
  histories: ReadonlyMap<string, History>,
): string[] {
  const expected = new Map<string, Fields[]>();
  for (const state of states.slice(0, done + 1))
    for (const [address, fields] of state) {
      const versions = expected.get(address) ?? [];
      expected.set(address, versions);
      const last = versions.at(-1);
      if (last !== fields && !isDeepStrictEqual(last, fields)) versions.push(fields);
    }
  const wrong = [...new Set([...expected.keys(), ...histories.keys()])].filter((address) => {
    const { earlier = [], current } = histories.get(address) ?? {};
    const found = current === undefined ? earlier : [...earlier, current];
    const versions = expected.get(address) ?? [];
    return versions.length !== found.length || !versions.every((fields, n) => isSame(fields, found[n]));
  });
  return wrong.map((address) => `${client}: the history of ${address} has other versions than were written`);
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
