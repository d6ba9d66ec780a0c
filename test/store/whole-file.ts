/** A SQLite file with everything that a store can have: how it is written, what a check says about it, and what a service serves from it. */
import { DatabaseSync } from "node:sqlite";
import { wordsVersion } from "../../src/query/search-words.ts";
import { openReader, openStore } from "../../src/store/open.ts";
import { logStart } from "../../src/store/port/log-place.ts";
import type { Store } from "../../src/store/port/store.ts";
import { until } from "../until.ts";
import { at, commit, created, declaration, deleted, number, topic, updated } from "./contract/fixture.ts";

/** The last id that the collection of numbers has given. */
const lastNumber = 12;

const ids = Array.from({ length: 60 }, (_, n) => `t${n}`);

/** What a check says about a file: its findings, or the error that ends it. */
export interface Checked {
  found: readonly string[];
  error?: unknown;
}

/** Does what `holdfast check` does with a store. */
export async function checkFile(path: string): Promise<Checked> {
  const found: string[] = [];
  try {
    const reader = await openReader({ kind: "sqlite", path });
    try {
      if (await reader.findDamage((text) => found.push(text))) return { found };
      for (const name of reader.collections().keys()) {
        reader.count(name);
        for await (const _ of reader.scan(name));
      }
    } finally {
      await reader.close();
    }
  } catch (error) {
    return { found, error };
  }
  return { found };
}

/** Everything that a service serves, by its name. An error is the text of its name. */
export async function serveFile(path: string): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  const isOutdated = hasOldWords(path);
  let store: Store;
  try {
    store = await openStore({ kind: "sqlite", path }, { sweepMs: Number.POSITIVE_INFINITY });
  } catch (error) {
    return { open: String(error) };
  }
  const ask = async (name: string, read: () => unknown) => {
    try {
      answers[name] = await read();
    } catch (error) {
      answers[name] = String(error);
    }
  };
  for (const id of ids) {
    await ask(`read ${id}`, () => store.read(topic(id)));
    await ask(`last version of ${id}`, () => store.lastVersion(topic(id)));
    await ask(`first version of ${id}`, () => store.version(topic(id), 1));
    await ask(`changes of ${id}`, () => store.changesOf(topic(id), { before: 99, limit: 99 }));
  }
  const topics = { collection: "topics", limit: 99 };
  const byN = [{ path: ["n"], descending: true }] as const;
  await ask("list", () => store.list(topics));
  await ask("sorted", () => store.list({ ...topics, sort: byN }));
  await ask("filtered", () => store.list({ ...topics, filter: { kind: "gte", path: ["n"], values: [30] } }));
  if (isOutdated) await until("the search words are built again", () => canSearch(store));
  await ask("search", () => store.list({ ...topics, words: ["title"] }));
  await ask("search for one", () => store.list({ ...topics, words: ["t42"] }));
  await ask("past", () => store.list({ ...topics, at: at + 70 }));
  const isNumber = { kind: "gte", path: ["n"], values: [-100] } as const;
  const figures = [{ kind: "sum", path: ["n"] }, { kind: "max", path: ["n"] }, { kind: "count" }] as const;
  const byKind = { group: [{ path: ["kind"] }], figures, sort: [], limit: 9, offset: 0 };
  await ask("figures", () => store.figures({ collection: "topics", filter: isNumber, ...byKind } as never));
  const reference = { path: ["of"], type: "string" } as never;
  await ask("referring", () =>
    store.referring({ collection: "topics", reference, ids: ids.slice(0, 9), limit: 9 }),
  );
  await ask("log", () => store.changesAfter("topics", logStart, 999));
  await ask("heads", async () => [...(await store.logHeads(["topics", "numbers", "_webhooks"]))]);
  await ask("receipts", () => Promise.all(ids.map((id) => store.receipt(`POST ${id}`, at))));
  // The time of the last use has no checksum.
  await ask("keys", async () => (await store.keys.all()).map(({ lastUsedAt: _, ...key }) => key));
  await ask("secret", async () => (await store.secret()).toString("hex"));
  await ask("numbers", () => store.list({ collection: "numbers", limit: 99 }));
  await ask("internal", () => store.list({ collection: "_webhooks", limit: 99 }));
  // The service may leave ids out.
  await ask("next id is new", async () => (await store.reserveIds("numbers", 1)) > lastNumber);
  await ask("create", () => commit(store, [created(number("99"), { n: 1 })], { at: at + 900 }));
  await ask("delete", () => commit(store, [deleted(topic("t0"), 1)], { at: at + 900 }));
  await store.close().catch(() => {});
  return answers;
}

/** Whether a file says that another version of the service has made its search words. The service then makes them again. */
function hasOldWords(path: string): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const select = database.prepare("select words_version as version from heads where number = 1");
    const version = select.get()?.version;
    return typeof version === "string" && version !== wordsVersion;
  } catch {
    return false; // the file is broken
  } finally {
    database?.close();
  }
}

async function canSearch(store: Store): Promise<boolean> {
  try {
    await store.list({ collection: "topics", limit: 1, words: ["title"] });
    return true;
  } catch (error) {
    return !/not complete yet/.test(String(error)); // another error does not pass
  }
}

/** Writes a store with everything that a store can have. */
export async function writeWholeFile(path: string): Promise<void> {
  const store = await openStore({ kind: "sqlite", path }, { history: "forever" });
  const n = { path: ["n"], descending: false } as const;
  await store.migrate([
    declaration("topics", {
      indexes: [[n], [{ path: ["kind"], descending: false }, n], [{ path: ["day"], descending: true }]],
      search: [["title"]],
      unique: [
        { path: ["m"], ignoreCase: false },
        { path: ["kind"], ignoreCase: true, others: [{ path: ["n"] }] },
      ],
      references: [{ path: ["of"], collection: "topics", onDelete: "clear" }],
    }),
    declaration("numbers", { idKind: "integer", timestamps: true }),
    declaration("_webhooks"),
  ]);
  for (const [n, id] of ids.entries()) {
    const attributes = {
      n,
      m: n,
      kind: `kind ${n % 4}`,
      day: n % 2 === 0 ? "2026-01-02" : true,
      title: `the title of ${id}`,
      of: ids[Math.max(0, n - 1)],
    };
    const receipt = { key: `POST ${id}`, fingerprint: "f", answer: "{}", expiresAt: at * 2 };
    await commit(store, [created(topic(id), attributes)], { at: at + n, receipt, principal: "ada" });
  }
  for (const [n, id] of ids.entries()) {
    if (n % 3 === 1)
      await commit(store, [updated(topic(id), 1, { n: -n, m: -n - 1, title: "a new title" })], {
        at: at + 100 + n,
      });
    if (n % 3 === 2) await commit(store, [deleted(topic(id), 1)], { at: at + 100 + n }).catch(() => {});
  }
  const numbers = Array.from({ length: lastNumber }, (_, n) => created(number(String(n + 1)), { n }));
  await commit(store, numbers, { at: at + 300 });
  await commit(store, [deleted(number("12"), 1), deleted(number("3"), 1)], { at: at + 310 });
  await commit(store, [created({ collection: "_webhooks", id: "w" }, { url: "https://example.org" })]);
  await store.erase(number("5"));
  for (const [n, id] of ["after", "the", "erase"].entries())
    await commit(store, [created(topic(id), { n: 100 + n, m: 100 + n, title: id })], { at: at + 400 + n });
  await store.keys.add({
    prefix: "p",
    hash: "h",
    name: "ada",
    subject: "ada",
    roles: ["reader"],
    scopes: ["topics:read"],
    createdAt: at,
    expiresAt: at * 2,
    revokedAt: undefined,
    lastUsedAt: undefined,
  });
  await store.keys.noteUse("p", at + 1);
  await store.close();
}
