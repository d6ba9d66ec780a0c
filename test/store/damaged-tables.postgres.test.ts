/** Rows without a checksum that change below the service: a check compares them with the rows that they are made from. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { foldingVersion } from "../../src/collection/folding.ts";
import { wordsVersion } from "../../src/query/search-words.ts";
import { copyStore } from "../../src/store/core/copy/copy.ts";
import { openReader, openSource, openStore, openTarget, type StoreAddress } from "../../src/store/open.ts";
import { logStart } from "../../src/store/port/log-place.ts";
import type { History } from "../../src/store/port/options.ts";
import { makePlace } from "../copy/places.ts";
import { type Below, openBelow } from "../http/below.ts";
import { until } from "../until.ts";
import {
  at,
  commit,
  created,
  declaration,
  deleted,
  number,
  topic,
  unexpired,
  updated,
} from "./contract/fixture.ts";

interface Damage {
  what: string;
  /** The statements that damage the store, and those that mend it. */
  damage: readonly string[];
  mend: readonly string[];
  /** What a check finds, in this order. */
  found: readonly RegExp[];
}

/** Damages of both kinds of stores. */
function onBoth({ table, keyColumn }: Below): readonly Damage[] {
  const meta = table("meta");
  const ids = table(keyColumn === "id" ? "heads" : "ids");
  const set = (name: string, value: string) => [`update ${meta} set value = ${value} where name = '${name}'`];
  const setLastId = (value: number) => [`update ${ids} set last_id = ${value} where number = 2`];
  const refers = table("refers_1");
  return [
    {
      what: "the last group is lowered",
      damage: set("groups", "value - 1000000"),
      mend: set("groups", "value + 1000000"),
      found: [
        /^The number "groups" of the store is damaged: it is -\d+ \(table \w*meta\)\. Changes of different commits can seem to belong together\. Restore a backup\.$/,
      ],
    },
    {
      what: "the number of stored responses is too high",
      damage: set("receipts", "value + 1"),
      mend: set("receipts", "value - 1"),
      found: [/^The number "receipts" of the store is damaged: it is 2, but there are 1 /],
    },
    {
      what: "the bytes of stored responses are too low",
      damage: set("answers", "value - 1"),
      mend: set("answers", "value + 1"),
      found: [/^The number "answers" of the store is damaged: it is 1, but there are 2 /],
    },
    {
      what: "a number is missing",
      damage: [`update ${meta} set name = 'answerz' where name = 'answers'`],
      mend: [`update ${meta} set name = 'answers' where name = 'answerz'`],
      found: [/^The number "answers" of the store is damaged: it is missing /],
    },
    {
      what: "a part of the secret has no valid form",
      damage: set("secret_2", "-1 - value"),
      mend: set("secret_2", "-1 - value"),
      found: [
        /^The number "secret_1", "secret_2", "secret_3" of the store is damaged: the parts of the secret/,
      ],
    },
    {
      what: "a later version has added a number",
      damage: [`insert into ${meta} values ('later', -7)`],
      mend: [`delete from ${meta} where name = 'later'`],
      found: [],
    },
    {
      what: "the last id is below that of a resource",
      damage: setLastId(1),
      mend: setLastId(3),
      found: [
        /^The counter of the ids of numbers is damaged in the store: it says that 1 is the last id, but 3 was given \(column last_id of the table \w+\)\. A create could get an id that another resource has or had\. Restore a backup\.$/,
      ],
    },
    {
      what: "a counter has a number that no service writes",
      damage: [`update ${table("heads")} set trimmed_up_to = ${2n ** 60n} where number = 1`],
      mend: [`update ${table("heads")} set trimmed_up_to = 0 where number = 1`],
      found: [
        /^The counters of the collection topics are damaged in the store \(table \w+, column trimmed_up_to\)/,
      ],
    },
    {
      what: "the log of one collection can lack changes, but lacks none, and the other had more without history than it can lack",
      damage: [
        `update ${table("heads")} set gaps_up_to = 1 where number = 1`,
        `update ${table("heads")} set unlogged_up_to = 2 where number = 2`,
      ],
      mend: [`update ${table("heads")} set gaps_up_to = 0, unlogged_up_to = 0`],
      found: [
        /^The counters of the collection topics are damaged in the store \(table \w+, column gaps_up_to\)/,
        /^The counters of the collection numbers are damaged in the store \(table \w+, column unlogged_up_to\)/,
      ],
    },
    {
      what: "a change has a time that no number holds",
      damage: [`update ${table("changes_2")} set at = at + ${2n ** 60n} where sequence = 1`],
      mend: [`update ${table("changes_2")} set at = at - ${2n ** 60n} where sequence = 1`],
      found: [
        /^The change log of the resource numbers\/1, at version 1, is damaged in the store: "at" has a number that the service never writes \(table \w+\)\. Requests that read this change, .* get 500 DATA_DAMAGED\. Restore a backup, or remove the resource with "npx holdfast erase"\.$/,
      ],
    },
    {
      what: "the version of the search words is missing",
      damage: [`update ${table("heads")} set words_version = null where number = 1`],
      mend: [`update ${table("heads")} set words_version = '${wordsVersion}' where number = 1`],
      found: [
        /^The search words of topics are damaged in the store: their version is missing in the table \w+, so the service never/,
      ],
    },
    {
      what: "a reference has another attribute",
      damage: [`update ${refers} set attribute = 'by' where target = 'a'`],
      mend: [`update ${refers} set attribute = 'of' where target = 'a'`],
      found: [
        /^The resource topics\/b has wrong references in the attribute "of" in the store \(table \w+\)/,
        /^The resource topics\/b has wrong references in the attribute "by" in the store/,
      ],
    },
    {
      what: "the declaration of one collection has another form, and the check goes on",
      damage: [
        `update ${table("collections")} set refers = replace(refers, '"path"', '"qath"') where number = 1`,
        ...setLastId(2),
      ],
      mend: [
        `update ${table("collections")} set refers = replace(refers, '"qath"', '"path"') where number = 1`,
        ...setLastId(3),
      ],
      found: [
        /^The declaration of the collection topics is damaged in the store \(table collections, column refers\), so the service does not start/,
        /it says that 2 is the last id, but 3 was given/,
      ],
    },
    {
      what: "the last id is below one that only the table of deleted ids has",
      damage: [
        `delete from ${table("changes_2")}`,
        `update ${table("heads")} set trimmed_up_to = sequence where number = 2`,
        ...setLastId(2),
      ],
      mend: setLastId(3),
      found: [/it says that 2 is the last id, but 3 was given/],
    },
  ];
}

function onSqlite(): readonly Damage[] {
  const row = "(select key from resources_1 where id = 'b')";
  return [
    {
      what: "the secret has another valid form",
      damage: ["update meta set value = value + 1 where name = 'secret_1' and value < 281474976710654"],
      mend: ["update meta set value = value - 1 where name = 'secret_1'"],
      found: [/the parts of the secret are not those that were written/],
    },
    {
      what: "the number of the files has no valid form",
      damage: ["update meta set value = -value where name = 'files'"],
      mend: ["update meta set value = -value where name = 'files'"],
      found: [/^The number "files" of the store is damaged: it is -\d+ /],
    },
    {
      what: "an entry has another value than its resource",
      damage: [`update entries_1 set v2 = 9.0 where slot = 1 and row = ${row}`],
      mend: [`update entries_1 set v2 = 2.0 where slot = 1 and row = ${row}`],
      found: [
        /^The resource topics\/b has another value in the index "kind, -n" than in its text in the store \(table entries_1\)\. Figures/,
      ],
    },
    {
      what: "a unique value has no entry",
      damage: [`update entries_1 set slot = 9 where slot = 2 and row = ${row}`],
      mend: [`update entries_1 set slot = 2 where slot = 9`],
      found: [
        /^The resource topics\/b has wrong keys for the unique attribute "n, kind" in the store \(table entries_1\)/,
        /^The table of index entries of topics is damaged in the store: 1 of its rows matches no resource: no index has the number 9/,
      ],
    },
    {
      what: "an entry is that of another resource, and another one that of none",
      damage: [
        `insert into entries_1 (slot, k, row) values (1, x'00', ${row})`,
        "insert into entries_1 (slot, k, row) values (2, x'00', 77)",
      ],
      mend: ["delete from entries_1 where k = x'00'"],
      found: [
        /: 2 of its rows match no resource: "kind, -n", for the resource topics\/b, which has another value; "n, kind", for no resource \(table entries_1\)\./,
      ],
    },
    {
      what: "a resource has other search words, of the same number",
      damage: [`insert or replace into search_1 (rowid, words) values (${row}, 'the tatle')`],
      mend: [`insert or replace into search_1 (rowid, words) values (${row}, 'the title')`],
      found: [
        /^The search words of topics are damaged in the store: they are not the words of the resources: topics\/b \(table search_1\)/,
      ],
    },
    {
      what: "search words belong to no resource",
      damage: ["insert into search_1 (rowid, words) values (77, 'more')"],
      mend: ["delete from search_1 where rowid = 77"],
      found: [/they are not the words of the resources: words of no resource /],
    },
    {
      what: "a resource has a key that no service gives",
      damage: ["update resources_2 set key = -4 where id = 2"],
      mend: ["update resources_2 set key = 2 where id = 2"],
      found: [/^The resource numbers\/2 is damaged in the store: its key is not one that the service gives/],
    },
  ];
}

function onPostgres(): readonly Damage[] {
  const words = "holdfast_words_1";
  return [
    {
      what: "a collection has lost the row with its last id",
      damage: ["update holdfast_ids set number = 9 where number = 1"],
      mend: ["update holdfast_ids set number = 1 where number = 9"],
      found: [/^The collection with the number 1 has lost its counters in the store \(table holdfast_ids\)/],
    },
    {
      what: "a resource has another size than its text",
      damage: ["update holdfast_resources_1 set size = size + 1 where key = 'b'"],
      mend: ["update holdfast_resources_1 set size = size - 1 where key = 'b'"],
      found: [/^The resource topics\/b has a wrong size in the store \(table holdfast_resources_1\)/],
    },
    {
      what: "a resource has other keys",
      damage: [`update holdfast_resources_1 set keys = array[keys[1], keys[2] || '\\x00'] where key = 'b'`],
      mend: [
        "update holdfast_resources_1 set keys[2] = substr(keys[2], 1, length(keys[2]) - 1) where key = 'b'",
      ],
      found: [/^The resource topics\/b has wrong keys for the unique attribute "n, kind" in the store/],
    },
    {
      what: "a resource has another word",
      damage: [`update ${words} set word = 'tatle' where word = 'title' and key = 'b'`],
      mend: [`update ${words} set word = 'title' where word = 'tatle' and key = 'b'`],
      found: [
        /^The resource topics\/b has wrong search words of "title" in the store \(table holdfast_words_1\)/,
      ],
    },
    {
      what: "search words belong to no resource",
      damage: [`insert into ${words} values ('more', 'zzz', 1)`],
      mend: [`delete from ${words} where key = 'zzz'`],
      found: [
        /^The table of search words of topics is damaged in the store: 1 of its rows matches no resource: words of the resource zzz, which does not exist/,
      ],
    },
    {
      what: "the counter of all words is wrong",
      damage: ["update holdfast_heads set words = words + 1 where number = 1"],
      mend: ["update holdfast_heads set words = words - 1 where number = 1"],
      found: [
        /^The search words of topics are damaged in the store: their counter is 5, but the resources have 4 /,
      ],
    },
    {
      what: "a character folds to another one",
      damage: ["update holdfast_folds set folded = 'f' where character = 'É'"],
      mend: ["update holdfast_folds set folded = 'e' where character = 'É'"],
      found: [
        /^The table holdfast_folds is damaged in the store: the folded forms of 1 character are wrong or missing, from "É" on/,
      ],
    },
  ];
}

for (const kind of ["sqlite", "postgres"] as const)
  test(`a check of a store on ${kind} names each row that does not match the others, and no other`, async (t) => {
    const address = await makePlace(t, kind);
    await write(address);
    assert.deepEqual(await check(address), []);
    const below = await openBelow(address);
    t.after(() => below.close());
    const own = kind === "sqlite" ? onSqlite() : onPostgres();
    for (const { what, damage, mend, found: expected } of [...own, ...onBoth(below)]) {
      for (const sql of damage) await below.run(sql);
      const found = await check(address);
      assert.equal(found.length, expected.length, `${what}:\n${found.join("\n")}`);
      for (const [n, form] of expected.entries()) assert.match(found[n] ?? "", form, what);
      for (const text of found) assert.match(text, / Restore a backup(?:\.|, or )/, what);
      for (const sql of mend) await below.run(sql);
    }
    assert.deepEqual(await check(address), [], "everything is mended");
  });

for (const kind of ["sqlite", "postgres"] as const)
  test(`what a declaration of a collection on ${kind} builds is right again after it was removed and made again`, async (t) => {
    const address = await makePlace(t, kind);
    await write(address);
    const below = await openBelow(address);
    const own =
      kind === "sqlite"
        ? [
            "update entries_1 set row = 1, v1 = 7 where k in (select k from entries_1 where row = 2)",
            "insert into entries_1 (slot, k, row) values (1, x'00', 2)",
            "insert or replace into search_1 (rowid, words) values (2, 'other')",
            "insert into refers_1 values ('of', 'a', 77)",
          ]
        : [
            "update holdfast_resources_1 set keys[1] = '', keys[2] = ''",
            "update holdfast_words_1 set word = 'other' where word = 'title'",
            "insert into holdfast_refers_1 values ('of', 'a', 'zzz')",
          ];
    for (const sql of [...own, `delete from ${below.table("refers_1")} where target = 'b'`])
      await below.run(sql);
    await below.close();
    assert.ok((await check(address)).length > 3);
    const store = await openStore(address, { history: "forever" });
    await store.migrate([declaration("topics")]);
    await store.migrate([declaration("topics", topics)]);
    await store.close();
    assert.deepEqual(await check(address), []);
  });

for (const kind of ["sqlite", "postgres"] as const)
  test(`an erase on ${kind} removes a resource with a damaged change, and a check then finds nothing`, async (t) => {
    const address = await makePlace(t, kind);
    await write(address);
    const below = await openBelow(address);
    await below.run(`update ${below.table("changes_1")} set principal = 'eve' where id = 'b'`);
    await below.close();
    assert.equal((await check(address)).length, 1);
    const store = await openStore(address, { history: "forever" });
    await store.erase(topic("b"));
    await store.close();
    assert.deepEqual(await check(address), []);
  });

for (const kind of ["sqlite", "postgres"] as const)
  test(`a check of a store on ${kind} accepts what erases, removed changes and times without history leave`, async (t) => {
    const address = await makePlace(t, kind);
    const openAgain = (history: History) => openStore(address, { history, sweepMs: 20 });
    const found = async (what: string) => assert.deepEqual(await check(address), [], what);
    let store = await openAgain("forever");
    const clear = { path: ["of"], collection: "topics", onDelete: "clear" } as const;
    await store.migrate([declaration("topics", { references: [clear] })]);
    const ids = ["a", "b", "c", "d", "e", "f"];
    for (const id of ids) await commit(store, [created(topic(id), { of: "a" })]);
    await store.erase(topic("a")); // also changes the others
    await found("an erase that changes other resources");
    await commit(store, [deleted(topic("b"), 2)]);
    await store.erase(topic("b"));
    await found("an erase of a deleted resource");
    await commit(store, [updated(topic("c"), 2)]);
    await store.close();
    store = await openAgain({ keepDays: 0, keepChanges: 2 });
    const left = async () => (await store.changesAfter("topics", logStart, 99)).changes.length;
    await until("old changes are removed", async () => (await left()) <= 2);
    await found("removed changes");
    await store.erase(topic("c"));
    await found("an erase after changes were removed");
    await store.close();
    store = await openAgain("none");
    await commit(store, [updated(topic("d"), 2)]);
    await until("the log is empty", async () => (await left()) === 0);
    await found("a time without history");
    await store.close();
    store = await openAgain("forever");
    await commit(store, [updated(topic("d"), 3)]);
    await store.erase(topic("e"));
    await commit(store, [updated(topic("f"), 2)]);
    await found("an erase in a log that begins again");
    await store.close();
  });

test("a check of a sound store with many kinds of values finds nothing, however its indexes were built", async (t) => {
  const values = [
    null,
    true,
    "2026-01-05T10:00:00Z",
    "x\0y",
    "z".repeat(400),
    "é 10",
    -0,
    1e300,
    2 ** 53,
    0.1,
    [1],
    {},
  ];
  const attribute = (as?: string) => ({ path: ["n"], descending: false, ...(as !== undefined && { as }) });
  const declared = declaration("topics", {
    indexes: [
      [attribute()],
      [attribute("date")],
      [{ ...attribute("natural"), folding: foldingVersion }],
    ] as never,
    search: [["title"]],
    unique: [{ path: ["m"], ignoreCase: true }],
    references: [{ path: ["of"], collection: "topics", onDelete: "clear" }],
  });
  const sqlite = await makePlace(t, "sqlite");
  const postgres = await makePlace(t, "postgres");
  const back = await makePlace(t, "sqlite");
  const store = await openStore(sqlite, { history: "forever", sweepMs: Number.POSITIVE_INFINITY });
  await store.migrate([declaration("topics")]);
  const all = Array.from({ length: 1_300 }, (_, n) =>
    created(topic(`t${n}`), { n: values[n % values.length], m: `M${n}`, title: `Title ${n % 7}`, of: "t0" }),
  );
  await commit(store, all);
  await store.migrate([declared]);
  assert.deepEqual(await check(sqlite), [], "while the indexes are built");
  await until("the indexes are built", async () => (await built(sqlite)) === true);
  await commit(store, [updated(topic("t1"), 1, { n: false }), deleted(topic("t2"), 1)]);
  await store.erase(topic("t3"));
  await store.close();
  assert.deepEqual(await check(sqlite), []);
  for (const [from, to] of [
    [sqlite, postgres],
    [postgres, back],
  ] as const) {
    const source = await openSource(from);
    const target = await openTarget(to);
    await copyStore(source, target);
    await source.close();
    await target.close();
    assert.deepEqual(await check(to), [], to.kind);
  }
  const copied = await openStore(postgres, { history: "forever" });
  await copied.migrate([{ ...declared, indexes: [], search: [] }]);
  await copied.migrate([declared]);
  await until("the indexes are built again", async () => (await built(postgres)) === true);
  await copied.close();
  assert.deepEqual(await check(postgres), []);
});

/** Whether the store builds nothing. */
async function built(address: StoreAddress): Promise<boolean> {
  const below = await openBelow(address);
  const rows = await below.all(`select number from ${below.table("heads")} where built_to is not null`);
  await below.close();
  return rows.length === 0;
}

const topics = {
  indexes: [
    [
      { path: ["kind"], descending: false },
      { path: ["n"], descending: true },
    ],
  ],
  unique: [{ path: ["n"], ignoreCase: false, others: [{ path: ["kind"] }] }],
  search: [["title"]],
  references: [{ path: ["of"], collection: "topics", onDelete: "restrict" }],
} as const;

async function write(address: StoreAddress): Promise<void> {
  const store = await openStore(address, { history: "forever" });
  await store.migrate([declaration("topics", topics), declaration("numbers", { idKind: "integer" })]);
  const receipt = { key: "POST a", fingerprint: "f", answer: "{}", expiresAt: unexpired };
  await commit(
    store,
    [
      created(topic("a"), { n: 1, kind: "x", title: "The title" }),
      created(topic("b"), { n: 2, kind: "x", title: "The title", of: "a" }),
    ],
    { receipt },
  );
  await commit(
    store,
    ["1", "2", "3"].map((id) => created(number(id))),
  );
  await commit(store, [deleted(number("3"), 1)], { at: at + 1 });
  await store.close();
}

async function check(address: StoreAddress): Promise<string[]> {
  const found: string[] = [];
  const reader = await openReader(address);
  try {
    const isDamaged = await reader.findDamage((text) => found.push(text));
    assert.equal(isDamaged, found.length > 0);
  } finally {
    await reader.close();
  }
  return found;
}
