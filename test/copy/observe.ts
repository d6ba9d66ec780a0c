/** All that a store answers, to be compared with what another one does. */

import type { LoggedChange } from "../../src/store/port/change-log.ts";
import { logStart, placeBefore, toPlace } from "../../src/store/port/log-place.ts";
import type { ListQuery } from "../../src/store/port/page.ts";
import type { CollectionRecord } from "../../src/store/port/record.ts";
import type { Store } from "../../src/store/port/store.ts";
import type { Key, Stored } from "../../src/store/port/stored.ts";
import { begin, receiptKeys } from "../store/contract/model/plans.ts";

/** Everything that can be asked without changing anything. */
export async function observe(store: Store): Promise<object> {
  const collections = [...store.collections().values()].map(declared);
  const answers: Record<string, object> = {};
  for (const { name } of collections) answers[name] = await observeCollection(store, name);
  const receipts = [...receiptKeys, '["kim","POST","/notes","k é"]', "without an answer"];
  return {
    collections,
    answers,
    receipts: await Promise.all(receipts.map((key) => observeReceipt(store, key))),
    keys: await store.keys.all(),
    secret: await store.secret(),
  };
}

/** A receipt needs `brief` only without its response. */
async function observeReceipt(store: Store, key: string) {
  const { brief, ...receipt } = (await store.receipt(key, begin)) ?? { answer: undefined };
  return receipt.answer === undefined ? { ...receipt, brief } : receipt;
}

function declared(record: CollectionRecord): CollectionRecord {
  const { name, idKind, schema, indexes, search, unique = [], references = [], timestamps = false } = record;
  return { name, idKind, schema, indexes, search, unique, references, timestamps };
}

async function observeCollection(store: Store, name: string): Promise<object> {
  const resources: Stored[] = [];
  for await (const resource of store.scan(name)) resources.push(resource);
  const changes = await allChanges(store, name);
  const ids = new Set([...resources, ...changes].map(({ id }) => id));
  const histories: Record<string, object> = {};
  for (const id of ids) histories[id] = await observeResource(store, { collection: name, id });
  return { resources, changes, histories, lists: await observeLists(store, name) };
}

async function allChanges(store: Store, name: string) {
  const all: LoggedChange[] = [];
  for (;;) {
    const page = (await store.changesAfter(name, all.at(-1)?.sequence ?? logStart, 7)).changes;
    if (page.length === 0) return all;
    all.push(...page);
  }
}

async function observeResource(store: Store, key: Key): Promise<object> {
  const changes = await store.changesOf(key, { before: 1e9, limit: 100 });
  const versions = [];
  for (let version = 0; version < 30; version++) versions.push(await store.version(key, version));
  const times = [begin - 1, begin, begin + 7, begin + 1e6];
  const past = [];
  for (const at of times) past.push((await store.versionAt(key, at)) ?? null);
  return { current: (await store.read(key)) ?? null, changes, versions, past };
}

const queries: readonly Omit<ListQuery, "collection" | "limit">[] = [
  {},
  { sort: [{ path: ["rank"], descending: true }] },
  { sort: [{ path: ["by", "name"], descending: false }], count: true },
  { offset: 2 },
];

async function observeLists(store: Store, collection: string): Promise<object[]> {
  const words = { words: ["lorem"], sort: [{ path: ["rank"] as const, descending: false }], count: true };
  const isSearched = (store.collections().get(collection)?.search ?? []).length > 0;
  const asked = isSearched ? [...queries, words, { words: ["d"] }] : queries;
  return Promise.all(asked.map((query) => store.list({ ...query, collection, limit: 5 })));
}

/** What comes of the next writes: the ids, versions, sequences and groups that are given. */
export async function goOn(store: Store): Promise<object> {
  const numbers = await store.reserveIds("numbers", 2);
  const text = (id: string | number) => JSON.stringify({ id, mark: "next", text: "lorem new" });
  const changes = [
    { key: { collection: "notes", id: "5" }, expect: "absent" as const, next: text(5) },
    { key: { collection: "long", id: "l3" }, expect: 1, next: text("l3") },
    { key: { collection: "long", id: "l4" }, expect: 1, next: undefined },
  ];
  const committed = await store.commit({ changes, at: begin + 50 });
  const log = (await store.changesAfter("notes", placeBefore(committed[0]?.sequence ?? toPlace(1)), 10))
    .changes;
  const taken = await store
    .commit({
      changes: [{ key: { collection: "notes", id: "6" }, expect: "absent", next: text(6) }],
      at: begin,
    })
    .catch(({ code }) => code);
  const load = await store.load("notes");
  const ids = ["007", "12", "-0", "new"]; // an erased one, one that is there, a deleted one, and one that was never there
  const refused = await load.add(ids.map((id) => ({ id, text: JSON.stringify({ id, mark: `back ${id}` }) })));
  await load.finish();
  const back = await Promise.all(
    ids.map(async (id) => (await store.read({ collection: "notes", id }))?.version),
  );
  const list = await store.list({ collection: "notes", limit: 10, words: ["new"] });
  return {
    numbers,
    committed,
    taken,
    back,
    refused,
    list,
    kinds: log.map(({ kind, version }) => [kind, version]),
  };
}
