/** Watches how the service uses its store. Every read is carried out as usual. */
import type { TestContext } from "node:test";
import { Store } from "../../src/store/core/store.ts";
import type { Commit } from "../../src/store/port/commit.ts";

/** The reads so far, and a function that runs before the next read. */
export interface LogReads {
  /** How often the changes after a place were read. */
  count: number;
  /** Called before each read, which waits for it. */
  before: () => Promise<void> | void;
}

/** Watches all stores of this process until the test ends. */
export function watchLogReads(t: TestContext): LogReads {
  const reads: LogReads = { count: 0, before: () => {} };
  const store = Store.prototype;
  const { changesAfter } = store;
  store.changesAfter = async function (this: typeof store, ...query: Parameters<typeof changesAfter>) {
    reads.count++;
    await reads.before();
    return changesAfter.apply(this, query);
  };
  t.after(() => {
    store.changesAfter = changesAfter;
  });
  return reads;
}

/** An import that is about to be written, and waits until it is let go. */
export interface HeldImport {
  /** The length of its texts, as the store was told. */
  length: number;
  /** How many characters of ids and texts it has added. */
  added: number;
  letGo(): void;
}

/** Holds the next import into a store of this process before it is written. Resolves when it waits. */
export function holdImport(t: TestContext): Promise<HeldImport> {
  const store = Store.prototype;
  const { load } = store;
  const { promise, resolve } = Promise.withResolvers<HeldImport>();
  const { promise: gone, resolve: letGo } = Promise.withResolvers<void>();
  store.load = async function (this: typeof store, ...[into, options]: Parameters<typeof load>) {
    const started = await load.call(this, into, options);
    let added = 0;
    const add = started.add.bind(started);
    const finish = started.finish.bind(started);
    started.add = (resources) => {
      added = resources.reduce((sum, { id, text }) => sum + id.length + text.length, added);
      return add(resources);
    };
    started.finish = async () => {
      resolve({ length: options?.length ?? 0, added, letGo });
      await gone;
      await finish();
    };
    return started;
  };
  t.after(() => {
    letGo();
    store.load = load;
  });
  return promise;
}

/** Does work before the nth read of a single resource in a store of this process. */
export function beforeRead(t: TestContext, nth: number, work: (store: Store) => Promise<unknown>): void {
  const store = Store.prototype;
  const { read } = store;
  let count = 0;
  store.read = function (this: Store, key: Parameters<typeof read>[0]) {
    if (++count !== nth) return read.call(this, key);
    return work(this).then(() => read.call(this, key));
  };
  t.after(() => {
    store.read = read;
  });
}

/** Does work when the next page of a list is read in a store of this process, before anything else can happen with the page. */
export function afterNextList(t: TestContext, work: () => Promise<unknown>): void {
  const store = Store.prototype;
  const { list } = store;
  store.list = async function (this: Store, query: Parameters<typeof list>[0]) {
    store.list = list;
    const page = await list.call(this, query);
    await work();
    return page;
  };
  t.after(() => {
    store.list = list;
  });
}

const queries = ["read", "list", "referring", "figures", "count", "receipt", "version", "versionAt"] as const;

/** Records the names of all queries to the stores of this process until the test ends, each when it has its result. */
export function watchQueries(t: TestContext): string[] {
  const made: string[] = [];
  const store = Store.prototype as Record<(typeof queries)[number], unknown>;
  for (const name of queries) {
    const query = store[name] as (...values: unknown[]) => unknown;
    store[name] = function (this: unknown, ...values: unknown[]) {
      const result = query.apply(this, values);
      const note = () => void made.push(name);
      if (result instanceof Promise) result.then(note, note);
      else note();
      return result;
    };
    t.after(() => {
      store[name] = query;
    });
  }
  return made;
}

/** A call to a store: `list articles`, `commit articles`. A name behind `-` is that of a collection in which it only deletes. */
export type StoreCall = string;

/** Records all queries and commits of the stores of this process, in their order, until the test ends. */
export function watchCalls(t: TestContext): StoreCall[] {
  const made: StoreCall[] = [];
  const store = Store.prototype as Record<(typeof queries)[number] | "commit", unknown>;
  for (const name of [...queries, "commit"] as const) {
    const call = store[name] as (...values: unknown[]) => unknown;
    store[name] = function (this: unknown, ...values: unknown[]) {
      made.push(`${name} ${aboutOf(values[0])}`);
      return call.apply(this, values);
    };
    t.after(() => {
      store[name] = call;
    });
  }
  return made;
}

/** The collections of a call, by its first argument. */
function aboutOf(first: unknown): string {
  if (typeof first === "string") return first;
  const { collection, changes = [] } = first as { collection?: string } & Partial<Commit>;
  const names = changes.map(({ key, next }) => `${next === undefined ? "-" : ""}${key.collection}`);
  return collection ?? names.sort().join(" ");
}

/** A commit that waits until it is let go, or fails. */
export interface HeldCommit {
  letGo(): void;
  fail(error: Error): void;
  /** Makes another commit at once, as if it came from another instance. */
  overtake(commit: Commit): Promise<unknown>;
}

/** Holds the commits to stores of this process, in the order in which they come, until `end` is called. */
export function holdCommits(t: TestContext): { held: HeldCommit[]; end: () => void } {
  const store = Store.prototype;
  const { commit } = store;
  const held: HeldCommit[] = [];
  store.commit = function (this: typeof store, given: Commit) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    held.push({ letGo: resolve, fail: reject, overtake: (other) => commit.call(this, other) });
    return promise.then(() => commit.call(this, given));
  };
  const end = () => {
    store.commit = commit;
  };
  t.after(() => {
    end();
    for (const { letGo } of held) letGo();
  });
  return { held, end };
}
