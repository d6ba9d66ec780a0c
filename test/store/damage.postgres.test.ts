/** Rows that change or vanish below the service: no read returns them, and the walk finds what no read sees. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, type TestContext, test } from "node:test";
import type { Reference } from "../../src/collection/references.ts";
import { checksumOfResource } from "../../src/store/core/checksums.ts";
import { copyStore } from "../../src/store/core/copy/copy.ts";
import { type WalkedStore, walk, walkAtOnce } from "../../src/store/core/walk.ts";
import { backUpStore, openSource, openStore, openTarget, type StoreAddress } from "../../src/store/open.ts";
import { logStart, toPlace } from "../../src/store/port/log-place.ts";
import type { History } from "../../src/store/port/options.ts";
import type { CollectionRecord } from "../../src/store/port/record.ts";
import type { Store } from "../../src/store/port/store.ts";
import { openCommandConnections } from "../../src/store/postgres/connection/connections.ts";
import { walkedDatabase } from "../../src/store/postgres/copy/database-contents.ts";
import { walkedFile } from "../../src/store/sqlite/copy/walked-file.ts";
import { makePlace } from "../copy/places.ts";
import { makeFolder } from "../folder.ts";
import { type Below, openBelow } from "../http/below.ts";
import { until } from "../until.ts";
import { at, commit, created, declaration, deleted, topic, updated, user } from "./contract/fixture.ts";

for (const kind of ["sqlite", "postgres"] as const)
  describe(`damage on ${kind}`, () => {
    test("no read returns a resource whose text has changed, and each error names it", async (t) => {
      const { store } = await openDamaged(t, kind, (table, keyOf) => [
        `update ${table("resources_1")} set doc = '{"id":"b","n":3}' where ${keyOf} = 'b'`,
      ]);
      const reads: Record<string, () => unknown> = {
        single: () => store.read(topic("b")),
        "with others": () => Promise.all(["a", "b", "c"].map((id) => store.read(topic(id)))),
        list: () => store.list({ collection: "topics", limit: 9 }),
        "indexed list": () =>
          store.list({ collection: "topics", limit: 9, sort: [{ path: ["n"], descending: false }] }),
        "slow list": () =>
          store.list({ collection: "topics", limit: 9, sort: [{ path: ["other"], descending: true }] }),
        "earlier list": () => store.list({ collection: "topics", limit: 9, at }),
        version: () => store.version(topic("b"), 1),
        "version at a time": () => store.versionAt(topic("b"), at),
        changes: () => store.changesAfter("topics", logStart, 9),
        scan: () => allOf(store.scan("topics")),
        change: () => commit(store, [updated(topic("b"), 1, { n: 4 })]),
        delete: () => commit(store, [deleted(topic("b"), 1)]),
      };
      for (const [name, read] of Object.entries(reads)) await rejectsAsDamaged(name, read, /topics\/b/);
      assert.equal(store.health().data, "damaged");
      assert.equal((await store.read(topic("a")))?.text, '{"id":"a","n":1}');
      await commit(store, [updated(topic("c"), 1, { n: 9 })]);
    });

    for (const [what, sql] of Object.entries({
      version: "version = version + 1",
      time: "updated_at = updated_at + 1",
      checksum: "checksum = checksum + 1",
    }))
      test(`a resource with another ${what} is damaged`, async (t) => {
        const { store } = await openDamaged(t, kind, (table, keyOf) => [
          `update ${table("resources_1")} set ${sql} where ${keyOf} = 'b'`,
        ]);
        await rejectsAsDamaged(what, () => store.read(topic("b")), /topics\/b/);
      });

    test("a resource in the row of another one is damaged", async (t) => {
      const { store } = await openDamaged(t, kind, (table, keyOf) => [
        `delete from ${table("resources_1")} where ${keyOf} = 'b'`,
        `update ${table("resources_1")} set ${keyOf} = 'b' where ${keyOf} = 'c'`,
      ]);
      await rejectsAsDamaged("read", () => store.read(topic("b")), /topics\/b/);
    });

    test("a damaged change is an error wherever the log is read, and other resources have their history", async (t) => {
      const { store } = await openDamaged(t, kind, (table) => [
        `update ${table("changes_1")} set principal = 'eve' where id = 'b'`,
      ]);
      const reads = {
        changes: () => store.changesOf(topic("b"), { before: 9, limit: 9 }),
        feed: () => store.changesAfter("topics", logStart, 9),
        "one change": () => store.changeAt("topics", toPlace(2)),
      };
      for (const [name, read] of Object.entries(reads)) await rejectsAsDamaged(name, read, /topics\/b/);
      assert.equal((await store.changesOf(topic("a"), { before: 9, limit: 9 })).length, 1);
    });

    test("a damaged receipt and a damaged API key are errors", async (t) => {
      const { store } = await openDamaged(t, kind, (table) => [
        `update ${table("receipts")} set answer = 'other'`,
        `update ${table("keys")} set roles = '["admin"]'`,
      ]);
      await rejectsAsDamaged("receipt", () => store.receipt("POST 1", at), /Idempotency-Key in POST 1/);
      await rejectsAsDamaged("key", () => store.keys.find("p"), /API key p/);
      await rejectsAsDamaged("end", () => store.keys.invalidate("p", { revokedAt: 1 }), /API key p/);
    });

    test("a new declaration that has to read a text that is no JSON is refused, and the error names the resource", async (t) => {
      const { store } = await openDamaged(t, kind, (table, keyOf) => [
        ...(kind === "postgres" ? [`alter table ${table("resources_1")} alter column doc type text`] : []),
        `update ${table("resources_1")} set doc = '{"id":' where ${keyOf} = 'b'`,
      ]);
      const by: Reference = { path: ["by"], collection: "topics", onDelete: "restrict" };
      const changes: Record<string, Partial<CollectionRecord>> = {
        unique: { unique: [{ path: ["m"], ignoreCase: false }] },
        reference: { references: [by] },
      };
      for (const [name, change] of Object.entries(changes))
        await assert.rejects(
          store.migrate([declaration("topics", change)]),
          { name: "StartError", message: /^The resource topics\/b is damaged in the store/ },
          name,
        );
      await commit(store, [created(topic("d"), { n: 4 })]);
    });

    test("the walk after a start finds a missing resource and a missing change", async (t) => {
      const { warnings, store } = await openDamaged(t, kind, (table, keyOf) => [
        `delete from ${table("resources_1")} where ${keyOf} = 'b'`,
        `delete from ${table("changes_1")} where sequence = 2`,
      ]);
      await until("the walk warns of both", () =>
        [
          /collection topics is damaged in the store: 1 of its resources are missing/,
          /change log of topics is damaged in the store: changes before 3 are missing/,
        ].every((expected) => warnings.some((each) => expected.test(each))),
      );
      await until("the health warns", () => store.health().data === "damaged");
    });

    for (const [what, sql, expected] of [
      ["its first change", "delete from CHANGES where sequence = 1", /changes before 2 are missing/],
      [
        "its last changes",
        "delete from CHANGES where sequence > 1",
        /the changes after 1, up to 3, are missing/,
      ],
      ["all changes", "delete from CHANGES", /the changes after 0, up to 3, are missing/],
      [
        "changes that its counter knows",
        "update HEADS set sequence = 9 where number = 1",
        /the changes after 3, up to 9, are missing/,
      ],
    ] as const)
      test(`the walk finds a log that lacks ${what}, also after another start`, async (t) => {
        const { address, store } = await openDamaged(t, kind, (table) => [
          sql.replace("CHANGES", table("changes_1")).replace("HEADS", table("heads")),
        ]);
        await store.close();
        await (await open(t, address)).store.close();
        const found: string[] = [];
        await walkAtOnce(await openWalked(t, address), (text) => found.push(text));
        assert.equal(found.length, 1, found.join("\n"));
        assert.match(found[0] ?? "", expected);
        const source = await openSource(address);
        const target = await openTarget({ kind: "sqlite", path: `${makeFolder()}/copy.db` });
        await assert.rejects(copyStore(source, target), { name: "StartError", message: expected });
        await source.close();
        await target.close();
      });

    for (const [what, sql, expected] of [
      [
        "a declaration is lost",
        "delete from COLLECTIONS where number = 1",
        /number 1 has lost its declaration/,
      ],
      ["a head is lost", "delete from HEADS where number = 1", /number 1 has lost its counters/],
      [
        "the counters of a log contradict each other",
        "update HEADS set trimmed_up_to = 400 where number = 1",
        /counters of the collection topics are damaged .*, columns?/,
      ],
      [
        "a counter is below zero",
        "update HEADS set sequence = -5 where number = 1",
        /counters of the collection topics are damaged .*, columns?/,
      ],
      [
        "a declaration has no kind of ids",
        "update COLLECTIONS set id_kind = 'x' where number = 1",
        /declaration of the collection topics is damaged/,
      ],
      [
        "a declaration has no indexes",
        "update COLLECTIONS set indexes = 'null' where number = 1",
        /declaration of the collection topics is damaged/,
      ],
    ] as const)
      test(`the walk finds that ${what}`, async (t) => {
        const { store, address } = await openDamaged(t, kind, () => []);
        await store.close();
        const below = await openBelow(address);
        await below.run(
          sql.replace("COLLECTIONS", below.table("collections")).replace("HEADS", below.table("heads")),
        );
        await below.close();
        const found: string[] = [];
        await walkAtOnce(await openWalked(t, address), (text) => found.push(text));
        assert.ok(
          found.some((text) => expected.test(text)),
          found.join("\n"),
        );
      });

    test("a log without its old changes, or those of a time without history, is not damaged", async (t) => {
      const address = await makePlace(t, kind);
      const openAgain = (history: History) => openStore(address, { history, sweepMs: 20 });
      const first = await openAgain({ keepDays: 0, keepChanges: 1 });
      await first.migrate([declaration("topics")]);
      for (const id of ["a", "b", "c"]) await commit(first, [created(topic(id))]);
      const isTrimmed = async () => (await first.changesAfter("topics", logStart, 9)).changes.length === 1;
      await until("old changes are removed", isTrimmed);
      await first.close();
      const walked = await openWalked(t, address);
      const found: string[] = [];
      const walkOnce = () => walkAtOnce(walked, (text) => found.push(text));
      await walkOnce();
      const silent = await openAgain("none");
      await until(
        "the log is empty",
        async () => (await silent.changesAfter("topics", logStart, 9)).changes.length === 0,
      );
      await commit(silent, [created(topic("d"))]);
      await walkOnce();
      await silent.close();
      const last = await openAgain("forever");
      t.after(() => last.close());
      await commit(last, [created(topic("e"))]);
      await walkOnce();
      assert.deepEqual(found, []);
    });

    test("the walk finds a lost or damaged version of a deleted id, and a create with the id meets the damage", async (t) => {
      const { store, address } = await openDamaged(t, kind, () => []);
      for (const id of ["a", "b", "c"]) await commit(store, [deleted(topic(id), 1)]);
      await store.close();
      const below = await openBelow(address);
      const table = below.table("deleted_1");
      await below.run(`delete from ${table} where id = 'a'`);
      await below.run(`update ${table} set version = 1 where id = 'b'`);
      await below.run(`update ${table} set version = 9 where id = 'c'`);
      await below.close();
      const found: string[] = [];
      await walkAtOnce(await openWalked(t, address), (text) => found.push(text));
      const missing = `is missing in the store (table ${table}), so the id could get a version again, and an old ETag could match it.`;
      const damaged = `is damaged in the store: its checksum is wrong (table ${table}). A create with this id gets 500 DATA_DAMAGED.`;
      const expected = [
        `topics/a ${missing}`,
        `topics/b ${missing}`,
        `topics/b ${damaged}`,
        `topics/c ${damaged}`,
      ];
      assert.deepEqual(
        found,
        expected.map((each) => `The version of the last delete of ${each} Restore a backup.`),
      );
      const again = (await open(t, address)).store;
      const message = /The version of the last delete of topics\/b is damaged/;
      await rejectsAsDamaged("last version", () => again.lastVersion(topic("b")), message);
      const create = () => commit(again, [{ ...created(topic("b")), last: 1 }]);
      await rejectsAsDamaged("create", create, message);
    });

    test("the walk finds changes that the counter of their collection does not know", async (t) => {
      const { warnings } = await openDamaged(t, kind, (table) => [
        `update ${table("heads")} set sequence = 1 where number = 1`,
      ]);
      await until("the walk warns", () =>
        warnings.some((each) =>
          /change log of topics is damaged in the store: it has changes after 1, the last one that its counter knows/.test(
            each,
          ),
        ),
      );
      assert.equal(warnings.filter((each) => /damaged/.test(each)).length, 1, warnings.join("\n"));
    });

    test("the walk finds a resource that an index lacks", async (t) => {
      const { warnings } = await openDamaged(t, kind, (table, keyColumn) => [
        kind === "sqlite"
          ? `delete from entries_1 where row = (select key from ${table("resources_1")} where ${keyColumn} = 'b')`
          : `update ${table("resources_1")} set keys = null where ${keyColumn} = 'b'`,
      ]);
      await until("the walk warns", () =>
        warnings.some((each) => /The resource topics\/b has wrong keys/.test(each)),
      );
      assert.equal(warnings.filter((each) => /damaged|wrong keys/.test(each)).length, 1, warnings.join("\n"));
    });

    test("the walk finds references, index entries and words that do not match the resources, and no others", async (t) => {
      const address = await makePlace(t, kind);
      const { store } = await open(t, address);
      const references: readonly Reference[] = [
        { path: ["parents"], collection: "topics", onDelete: "restrict" },
      ];
      await store.migrate([
        declaration("topics", {
          indexes: ["n", "m"].map((name) => [{ path: [name], descending: false }]),
          search: [["title"]],
          references,
        }),
      ]);
      const ids = Array.from({ length: 300 }, (_, n) => `t${n}`);
      await commit(
        store,
        ids.map((id, n) => created(topic(id), { n, m: n % 7, title: `the ${id}`, parents: ["t0", id] })),
      );
      await store.close();
      const walked = await openWalked(t, address);
      const findings = async () => {
        const found: string[] = [];
        await walkAtOnce(walked, (text) => found.push(text));
        return found.sort();
      };
      assert.deepEqual(await findings(), []);
      const below = await openBelow(address);
      const rowOf = (id: string) =>
        kind === "sqlite" ? `(select key from resources_1 where id = '${id}')` : `'${id}'`;
      const refers = below.table("refers_1");
      await below.run(`insert into ${refers} values ('parents', 'x', ${rowOf("t8")})`);
      await below.run(`delete from ${refers} where key = ${rowOf("t9")} and target = 't0'`);
      await below.run(
        `insert into ${refers} values ('parents', 't0', ${kind === "sqlite" ? 9_999 : "'zzz'"})`,
      );
      await below.run(
        kind === "sqlite"
          ? `delete from search_1 where rowid = ${rowOf("t7")}`
          : "delete from holdfast_words_1 where key = 't7'",
      );
      if (kind === "sqlite") {
        await below.run("insert into entries_1 (slot, k, row) values (1, x'ff01', 9999)"); // no resource
        await below.run(`insert into entries_1 (slot, k, row) values (2, x'00', ${rowOf("t8")})`); // another key
      }
      await below.close();
      if (address.kind === "sqlite") {
        const raw = new DatabaseSync(address.path, { defensive: false });
        raw.exec("update search_1_data set block = zeroblob(length(block)) where id > 10");
        raw.close();
      }
      const expected = [
        /resource topics\/t8 has wrong references/,
        /resource topics\/t9 has wrong references/,
        /table of references of topics is damaged in the store: 1 of its rows/,
        /resource topics\/t7 has wrong search words/,
      ];
      const ofFiles = [
        /search words of topics are damaged in the store: .*search_1/,
        /table of index entries of topics is damaged in the store: 2 of its rows/,
      ];
      const found = await findings();
      const wanted = kind === "sqlite" ? [...expected, ...ofFiles] : expected;
      for (const each of wanted)
        assert.ok(
          found.some((text) => each.test(text)),
          `${each} in ${found.join("\n")}`,
        );
      assert.equal(found.length, wanted.length, found.join("\n"));
    });

    test("the walk finds a resource in an old state, whose checksum is right", async (t) => {
      const old = { id: "b", version: 1, updatedAt: at, text: '{"id":"b","n":0}' };
      const { warnings, store } = await openDamaged(t, kind, (table, keyColumn) => [
        `update ${table("resources_1")} set doc = '${old.text}', checksum = ${checksumOfResource("topics", old)}
          where ${keyColumn} = 'b'`,
      ]);
      assert.equal((await store.read(topic("b")))?.text, old.text);
      await until("the walk warns", () =>
        warnings.some((each) => /topics is damaged .*: some of its resources are not those/.test(each)),
      );
    });

    test("a walk while others write counts only what was there before, and finds what is missing", async (t) => {
      for (const isDamaged of [false, true]) {
        const { address, store } = await openDamaged(t, kind, (table, keyColumn) =>
          isDamaged ? [`delete from ${table("resources_1")} where ${keyColumn} = 'b'`] : [],
        );
        const found: string[] = [];
        const changes = [
          () => commit(store, [created(topic("0"))]), // at a place that the walk has passed
          () => commit(store, [deleted(topic("a"), 1)]),
          () => commit(store, [updated(topic("c"), 1), created(topic("d"))]), // at a place before it
          () => commit(store, [deleted(topic("d"), 1), deleted(topic("0"), 1)]),
        ];
        const walked = await openWalked(t, address);
        let isAmongResources = false;
        const oneByOne: WalkedStore = {
          ...walked,
          slice: (work) =>
            walked.slice((reads) =>
              work({
                ...reads,
                items: (section, after) => {
                  isAmongResources ||= section.kind === "resources";
                  return reads.items(section, after, { items: 1, bytes: 9 });
                },
              }),
            ),
        };
        const walking = walk(oneByOne, (text) => found.push(text));
        let step = await walking.next();
        for (; step.done !== true; step = await walking.next()) {
          if (isAmongResources) await changes.shift()?.();
        }
        assert.equal(changes.length, 0);
        assert.equal(step.value, isDamaged);
        assert.match(found.join("\n"), isDamaged ? /1 of its resources are missing/ : /^$/);
        assert.equal(await walkAtOnce(walked, () => {}), isDamaged, "also when nothing changes");
      }
    });

    test("an erase removes a damaged resource, and the next complete walk ends the warning", async (t) => {
      const { store, address, warnings } = await openDamaged(t, kind, (table, keyOf) => [
        `update ${table("resources_1")} set doc = '{"id":"b"}' where ${keyOf} = 'b'`,
      ]);
      await until("the walk warns", () => warnings.some((each) => /topics\/b/.test(each)));
      await store.erase(topic("b"));
      await store.close();
      const again = await open(t, address);
      const { items } = await again.store.list({ collection: "topics", limit: 9 });
      assert.deepEqual(
        items.map(({ id }) => id),
        ["a", "c"],
      );
      assert.equal(again.store.health().data, undefined);
    });

    test("a write to a collection whose counter is too low is an error that says so, and others are written", async (t) => {
      const { store } = await openDamaged(t, kind, (table) => [
        `update ${table("heads")} set sequence = 1 where number = 1`,
      ]);
      await store.migrate([declaration("users")]);
      const message =
        /^The counter of the collection topics is damaged in the store: .* Restore a backup, or/;
      const writes = ["d", "e"].map((id) => () => commit(store, [created(topic(id), { n: 4 })]));
      const together = writes.map((write, n) => rejectsAsDamaged(`create ${n}`, write, message));
      await Promise.all([...together, commit(store, [created(user("ada"))])]);
      assert.equal((await store.read(user("ada")))?.version, 1);
      await rejectsAsDamaged("delete", () => commit(store, [deleted(topic("a"), 1)]), message);
      await rejectsAsDamaged("erase", () => store.erase(topic("a")), message);
      const load = await store.load("topics");
      await rejectsAsDamaged("import", () => load.add([{ id: "f", text: '{"id":"f"}' }]), message);
      await load.cancel();
      assert.equal((await store.read(topic("a")))?.version, 1);
      assert.equal(await store.read(topic("f")), undefined);
    });

    test("a write that needs a counter with a number that no service writes is an error that says so", async (t) => {
      const { store } = await openDamaged(t, kind, (table) => [
        `update ${table("heads")} set sequence = sequence + ${2n ** 60n} where number = 1`,
        `update ${table("meta")} set value = value + ${2n ** 60n} where name = 'groups'`,
      ]);
      await store.migrate([declaration("users")]);
      const create = () => commit(store, [created(topic("d"), { n: 4 })]);
      await rejectsAsDamaged(
        "create",
        create,
        /^The counters of the collection topics are damaged in the store/,
      );
      const together = () => commit(store, [created(user("ada")), created(user("bob"))]);
      await rejectsAsDamaged("group", together, /^The number of the last group of changes is damaged/);
      await commit(store, [created(user("ada"))]);
      assert.equal((await store.read(topic("a")))?.version, 1);
    });

    test("a restore after a delete whose version is damaged, or that the log lacks, says so", async (t) => {
      const { store, address } = await openDamaged(t, kind, () => []);
      for (const id of ["a", "b", "c"]) await commit(store, [deleted(topic(id), 1)]);
      const load = await store.load("topics");
      await load.add([{ id: "c", text: '{"id":"c","n":3}' }]);
      await load.finish();
      await commit(store, [deleted(topic("c"), 3)]);
      await store.close();
      const below = await openBelow(address);
      await below.run(`delete from ${below.table("deleted_1")} where id = 'b'`);
      // As if there was no history for a while, and an erase of another resource.
      await below.run(`delete from ${below.table("changes_1")} where id = 'c' and version > 2`);
      await below.run(
        `update ${below.table("heads")} set sequence = 9, gaps_up_to = 9, unlogged_up_to = 8 where number = 1`,
      );
      await below.close();
      const again = (await open(t, address)).store;
      const restore = (id: string) => commit(again, [{ ...created(topic(id), { n: 4 }), after: 2 }]);
      await rejectsAsDamaged(
        "damaged",
        () => restore("b"),
        /last delete of the resource topics\/b is damaged/,
      );
      await assert.rejects(restore("c"), { code: "PRECONDITION_FAILED" });
      assert.deepEqual(
        (await restore("a")).map(({ version }) => version),
        [3],
      );
      await assert.rejects(restore("a"), { code: "PRECONDITION_FAILED" });
    });

    for (const { what, sql, message } of [
      {
        what: "a damaged change",
        sql: "update CHANGES set at = at + 1 where id = 'b'",
        message: /change log of the resource topics\/b, at version 1, is damaged/,
      },
      {
        what: "a missing change",
        sql: "delete from CHANGES where id = 'b'",
        message: /change log of topics is damaged in the store: changes before 3 are missing/,
      },
    ])
      test(`a backup and a copy of a store with ${what} are refused`, async (t) => {
        const { store, address } = await openDamaged(t, kind, (table) => [
          sql.replace("CHANGES", table("changes_1")),
        ]);
        await store.close();
        const folder = makeFolder();
        writeFileSync(`${folder}/backup.db`, "");
        const refused = { name: "StartError", message };
        await assert.rejects(backUpStore(address, `${folder}/backup.db`, {}), refused);
        const source = await openSource(address);
        const target = await openTarget({ kind: "sqlite", path: `${folder}/copy.db` });
        await assert.rejects(copyStore(source, target), refused);
        await source.close();
        await target.close();
      });
  });

test("damaged search words make searches fail, and hide no other damage from the walk", async (t) => {
  const address = await makePlace(t, "sqlite");
  const before = await openStore(address);
  await before.migrate([declaration("topics", { search: [["title"]] }), declaration("users")]);
  await commit(before, [created(topic("a"), { title: "a title" }), created(user("ada"))]);
  await before.close();
  const raw = new DatabaseSync((address as { path: string }).path, { defensive: false });
  raw.exec("update search_1_config set v = 3 where k = 'version'; update resources_2 set version = 9");
  raw.close();
  const { store, warnings } = await open(t, address);
  await until("the walk warns of both", () =>
    [/search words of topics cannot be read in the store: .*fts5/, /resource users\/ada is damaged/].every(
      (expected) => warnings.some((each) => expected.test(each)),
    ),
  );
  assert.equal(store.health().data, "damaged");
  const search = () => store.list({ collection: "topics", limit: 9, words: ["title"] });
  await rejectsAsDamaged("search", search, /search words of the collection topics are damaged/);
  assert.equal((await store.read(topic("a")))?.version, 1);
  assert.equal(store.health().kind, "ok");
});

test("a start on PostgreSQL warns if the server has data_checksums off", async (t) => {
  const address = await makePlace(t, "postgres");
  const { warnings } = await open(t, address);
  const below = await openBelow(address);
  const { data_checksums: setting } = await below.first("show data_checksums");
  await below.close();
  t.diagnostic(`data_checksums is ${setting}`);
  assert.equal(
    warnings.some((each) => /data_checksums off/.test(each)),
    setting === "off",
  );
});

interface Opened {
  store: Store;
  /** What the store has told the operator. */
  warnings: string[];
}

async function open(t: TestContext, address: StoreAddress): Promise<Opened> {
  const warnings: string[] = [];
  const store = await openStore(address, { onWarning: (text) => warnings.push(text) });
  t.after(() => store.close());
  return { store, warnings };
}

/** A store whose rows were changed below it while it was closed. */
async function openDamaged(
  t: TestContext,
  kind: StoreAddress["kind"],
  damage: (table: Below["table"], keyColumn: string) => readonly string[],
): Promise<Opened & { address: StoreAddress }> {
  const address = await makePlace(t, kind);
  const before = await openStore(address);
  await before.migrate([declaration("topics", { indexes: [[{ path: ["n"], descending: false }]] })]);
  for (const [n, id] of ["a", "b", "c"].entries())
    await commit(before, [created(topic(id), { n: n + 1 })], {
      receipt: { key: `POST ${n}`, fingerprint: "f", answer: "{}", expiresAt: at * 2 },
    });
  await before.keys.add({
    prefix: "p",
    hash: "h",
    name: "ada",
    subject: "ada",
    roles: ["reader"],
    scopes: undefined,
    createdAt: at,
    expiresAt: undefined,
    revokedAt: undefined,
    lastUsedAt: undefined,
  });
  await before.close();
  const below = await openBelow(address);
  for (const sql of damage(below.table, kind === "sqlite" ? "id" : "key")) await below.run(sql);
  await below.close();
  return { ...(await open(t, address)), address };
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** What a walk reads, in this process. */
async function openWalked(t: TestContext, address: StoreAddress): Promise<WalkedStore> {
  if (address.kind === "sqlite") {
    const database = new DatabaseSync(address.path, { readOnly: true });
    t.after(() => database.close());
    return walkedFile(database);
  }
  const { connections, close } = openCommandConnections(address.url);
  t.after(close);
  return walkedDatabase(connections);
}

async function rejectsAsDamaged(name: string, read: () => unknown, message: RegExp): Promise<void> {
  await assert.rejects(async () => read(), { name: "Problem", code: "DATA_DAMAGED", message }, name);
}
