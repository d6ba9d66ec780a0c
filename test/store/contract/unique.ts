/** Unique attributes: no write makes a value be there twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Unique } from "../../../src/collection/unique.ts";
import type { Problem } from "../../../src/errors.ts";
import type { Filter } from "../../../src/query/filter.ts";
import type { Change } from "../../../src/store/port/commit.ts";
import { logStart } from "../../../src/store/port/log-place.ts";
import type { Store } from "../../../src/store/port/store.ts";
import {
  at,
  commit,
  created,
  declaration,
  deleted,
  type OpenFixture,
  onStore,
  type Runs,
  rejectsWith,
  scannedIds,
  textOf,
  topic,
  updated,
  user,
} from "./fixture.ts";

const record = (unique: readonly Unique[]) => declaration("topics", { unique });

const email: Unique = { path: ["email"], ignoreCase: false };
const whereOpen = {
  declared: { status: "open" },
  paths: [["status"]] as const,
  filter: { kind: "in", path: ["status"], values: ["open"] },
};
const seat: Unique = {
  path: ["train"],
  others: [{ path: ["day"], as: "date" }, { path: ["seat"] }],
  ignoreCase: false,
  where: whereOpen,
};
const declare = (store: Store, unique: readonly Unique[] = [email]) => store.migrate([record(unique)]);

export function uniqueContract(open: OpenFixture): void {
  test(
    "an earlier step of a commit frees an id and a value for its changes",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" }), created(topic("r"), { email: "r" })]);
      const ended = updated(topic("a"), 1, { email: "x", ended: true });
      const born = created(topic("b"), { email: "y", ended: true });
      const steps = [
        [ended, born],
        [
          { ...deleted(topic("a"), 2), principal: "ends" },
          { ...deleted(topic("b"), 1), principal: "ends" },
        ],
      ];
      const changes = [
        created(topic("c"), { email: "x" }),
        { ...created(topic("a"), { email: "y" }), last: 3 },
      ];
      await store.commit({ changes, steps, at, isDryRun: true });
      assert.deepEqual(await store.commit({ changes, steps, at, principal: "me" }), [
        { version: 1, sequence: 7 },
        { version: 4, sequence: 8 },
      ]);
      const list = await store.list({ collection: "topics", limit: 10 });
      assert.deepEqual(
        list.items.map(({ id, version }) => [id, version]),
        [
          ["a", 4],
          ["c", 1],
          ["r", 1],
        ],
      );
      assert.equal(await store.holder("topics", email, '"x"'), "c");
      assert.equal(await store.holder("topics", email, '"y"'), "a");
      const history = await store.changesOf(topic("a"), { before: 9, limit: 9 });
      assert.deepEqual(
        history.map(({ version, kind, principal }) => [version, kind, principal]),
        [
          [4, "created", "me"],
          [3, "deleted", "ends"],
          [2, "updated", "me"],
          [1, "created", undefined],
        ],
      );
      assert.equal((await store.version(topic("a"), 2))?.text, ended.next);
      assert.equal((await store.version(topic("b"), 1))?.text, born.next);
      await commit(store, [updated(topic("a"), 4, { email: "z" }), deleted(topic("c"), 1)]);
    }),
  );

  test(
    "what an import ends at once holds no value and is in the history",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("held"), { email: "h" })]);
      const load = await store.load("topics");
      const row = (id: string, value: string) => ({ id, text: textOf(id, { email: value }) });
      const { refused } = await load.add([
        { ...row("a", "x"), endedBy: "ends" },
        row("b", "x"),
        { ...row("c", "x"), endedBy: "ends" },
        { ...row("d", "h"), endedBy: "ends" },
        row("e", "h"),
      ]);
      assert.deepEqual(
        refused.map(({ position }) => position),
        [4],
      );
      await load.finish();
      assert.deepEqual(await scannedIds(store, "topics"), ["b", "held"]);
      assert.equal(await store.holder("topics", email, '"x"'), "b");
      assert.equal(await store.holder("topics", email, '"h"'), "held");
      const history = await store.changesOf(topic("c"), { before: 9, limit: 9 });
      assert.deepEqual(
        history.map(({ version, kind, principal }) => [version, kind, principal]),
        [
          [2, "deleted", "ends"],
          [1, "created", undefined],
        ],
      );
    }),
  );

  test(
    "a commit whose step or whose changes are refused writes nothing",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" }), created(topic("r"), { email: "r" })]);
      const end = [[updated(topic("a"), 1, { email: "x", ended: true })], [deleted(topic("a"), 2)]];
      const changeOf = (refused: Promise<unknown>) =>
        refused.then(
          () => assert.fail("it is written"),
          ({ code, change }: Problem) => [code, change],
        );
      const late = store.commit({ changes: [created(topic("c"), { email: "r" })], steps: end, at });
      assert.deepEqual(await changeOf(late), ["UNIQUE_VIOLATION", 2]);
      const early = [[updated(topic("a"), 1, { email: "r" })], ...end.slice(1)];
      assert.deepEqual(await changeOf(store.commit({ changes: [], steps: early, at })), [
        "UNIQUE_VIOLATION",
        0,
      ]);
      const own = store.commit({ changes: [updated(topic("a"), 2, { email: "x" })], steps: end, at });
      assert.deepEqual(await changeOf(own), ["REFERENCED", 2]);
      assert.deepEqual((await store.read(topic("a")))?.version, 1);
      assert.equal((await store.changesOf(topic("a"), { before: 9, limit: 9 })).length, 1);
      await store.commit({ changes: [], steps: end, at });
      assert.equal(await store.read(topic("a")), undefined);
    }),
  );

  test(
    "the holder of a value is the resource that has it now, also with a long value and after a change of the declaration",
    onStore(open, async (store) => {
      const long = "x".repeat(400);
      const pair: Unique = { path: ["a"], others: [{ path: ["b"] }], ignoreCase: false };
      const holder = (value: string, unique = email) => store.holder("topics", unique, value);
      assert.equal(await holder('"x"'), undefined, "an unknown collection has none");
      await declare(store, [email, pair]);
      await commit(store, [
        created(topic("a"), { email: "x", a: 1, b: 2 }),
        created(topic("b"), { email: long }),
      ]);
      assert.equal(await holder('"x"'), "a");
      assert.equal(await holder(JSON.stringify(long)), "b");
      assert.equal(await holder("[1,2]", pair), "a");
      assert.equal(await holder("[1,3]", pair), undefined);
      assert.equal(await holder('"y"'), undefined);
      await commit(store, [updated(topic("a"), 1, { email: "y" })]);
      assert.deepEqual([await holder('"x"'), await holder('"y"')], [undefined, "a"]);
      await commit(store, [deleted(topic("a"), 2)]);
      assert.equal(await holder('"y"'), undefined);
      await declare(store, [pair]);
      assert.equal(await holder(JSON.stringify(long)), undefined, "the attribute is not unique any more");
    }),
  );

  test(
    "a value that another resource has is refused with the pointer of the attribute, and nothing is written",
    onStore(open, async (store) => {
      await declare(store, [email, { path: ["a b", "c/d"], ignoreCase: false }]);
      await commit(store, [created(topic("a"), { email: "x", "a b": { "c/d": 1 } })]);
      await commit(store, [created(topic("b"), { email: "y" })]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("c"), { email: "x" })]));
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [updated(topic("b"), 1, { email: "x" })]));
      await assert.rejects(
        commit(store, [created(topic("c"), { "a b": { "c/d": 1 } })]),
        ({ attributes, takenBy, change }: Problem) => {
          assert.deepEqual(
            { attributes, takenBy, change },
            { attributes: ["#/a%20b/c~1d"], takenBy: "a", change: 0 },
          );
          return true;
        },
      );
      assert.deepEqual(await scannedIds(store, "topics"), ["a", "b"]);
      assert.equal((await store.list({ collection: "topics", limit: 9 })).sequence, 2);
      assert.equal((await store.changesAfter("topics", logStart, 9)).changes.length, 2);
    }),
  );

  test(
    "a refused change of the holder of a value does not make the value free for commits of the same group",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("z"), { email: "z" })]);
      const first = commit(store, [created(topic("first"))]); // the others arrive during this one, so they form a group
      const made = commit(store, [created(topic("a"), { email: "x" })]);
      const refused = [updated(topic("a"), 1, { email: "x", n: 1 }), created(topic("b"), { email: "z" })];
      await Promise.all([
        first,
        made,
        rejectsWith("UNIQUE_VIOLATION", commit(store, refused)),
        rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("c"), { email: "x" })])),
      ]);
    }),
  );

  test(
    "all forms of an instant are one value of a declared date",
    onStore(open, async (store) => {
      await declare(store, [{ path: ["at"], ignoreCase: false, as: "date" }]);
      await commit(store, [created(topic("a"), { at: "2026-11-23" })]);
      const same = ["2026-11-23", "2026-11-23T00:00:00.000Z", "2026-11-22T23:00-01:00", 1795392000000];
      for (const at of same)
        await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("b"), { at })]));
      const others = [
        "2026-11-23T00:00:00.001Z",
        1795392000002,
        "soon",
        5.5,
        "2026-11-23T00:00:00.0001Z",
        null,
      ];
      for (const [n, at] of others.entries()) await commit(store, [created(topic(`c${n}`), { at })]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("b"), { at: "soon" })]));
    }),
  );

  test(
    "of changes in one commit, that which took the value of another is named, and that which took one from before",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" })]);
      const create = (id: string, value: string) => created(topic(id), { email: value });
      const isAbout = (change: number) => (error: Problem) => {
        assert.deepEqual([error.code, error.change], ["UNIQUE_VIOLATION", change]);
        return true;
      };
      await assert.rejects(commit(store, [create("d", "y"), create("c", "z"), create("b", "y")]), isAbout(2));
      await assert.rejects(commit(store, [create("b", "y"), create("c", "x"), create("d", "x")]), isAbout(1));
      const renamed = updated(topic("a"), 1, { email: "y" });
      await assert.rejects(commit(store, [create("b", "y"), renamed]), isAbout(1));
    }),
  );

  test(
    "absent and null attributes, arrays and objects, and values of other types do not collide",
    onStore(open, async (store) => {
      await declare(store);
      const values = [
        undefined,
        undefined,
        null,
        null,
        ["x"],
        ["x"],
        { x: 1 },
        { x: 1 },
        "x",
        "X",
        1,
        "1",
        "",
      ];
      for (const [n, value] of values.entries()) {
        await commit(store, [created(topic(`t${n}`), value === undefined ? {} : { email: value })]);
      }
      for (const [n, value] of [
        12,
        1.5,
        "1x",
        "x ",
        true,
        "true",
        "x\0",
        "x".repeat(62),
        "x".repeat(63),
      ].entries())
        await commit(store, [created(topic(`near${n}`), { email: value })]);
      const long = "é".repeat(500);
      await commit(store, [created(topic("long"), { email: `${long}a` })]);
      await commit(store, [created(topic("longer"), { email: `${long}b` })]);
      for (const value of ["x", 1, "1", "", true, "x".repeat(62), "x".repeat(63), `${long}a`]) {
        await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("z"), { email: value })]));
      }
    }),
  );

  test(
    "where case is ignored, A to Z are a to z",
    onStore(open, async (store) => {
      await declare(store, [{ path: ["email"], ignoreCase: true }]);
      await commit(store, [created(topic("a"), { email: "Kim@Example.ORG" })]);
      await rejectsWith(
        "UNIQUE_VIOLATION",
        commit(store, [created(topic("b"), { email: "kIM@example.org" })]),
      );
      await commit(store, [updated(topic("a"), 1, { email: "kim@example.org" })]);
    }),
  );

  test(
    "where case is ignored, letters outside ASCII keep theirs",
    onStore(open, async (store) => {
      await declare(store, [{ path: ["email"], ignoreCase: true }]);
      await commit(store, [created(topic("a"), { email: "ÄRGER" })]);
      await commit(store, [created(topic("b"), { email: "ärger" })]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("c"), { email: "Ärger" })]));
    }),
  );

  test(
    "a value is free again once its resource is deleted or has another",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" })]);
      await commit(store, [updated(topic("a"), 1, { email: "y" })]);
      await commit(store, [created(topic("b"), { email: "x" })]);
      await commit(store, [deleted(topic("a"), 2)]);
      await commit(store, [created(topic("c"), { email: "y" })]);
    }),
  );

  test(
    "a commit of several changes is judged by what they make together",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" }), created(topic("b"), { email: "y" })]);
      await commit(store, [updated(topic("a"), 1, { email: "y" }), updated(topic("b"), 1, { email: "x" })]);
      await commit(store, [created(topic("c"), { email: "y" }), deleted(topic("a"), 2)]);
      const twins = [created(topic("d"), { email: "z" }), created(topic("e"), { email: "z" })];
      await rejectsWith("UNIQUE_VIOLATION", commit(store, twins));
      assert.deepEqual(await scannedIds(store, "topics"), ["b", "c"]);
    }),
  );

  test(
    "of a hundred commits at once with one value one happens, and the commits beside them keep their fate",
    onStore(open, async (store) => {
      await declare(store);
      const same = Array.from({ length: 100 }, (_, n) =>
        commit(store, [created(topic(`same${n}`), { email: "x" })]),
      );
      const others = Array.from({ length: 20 }, (_, n) =>
        commit(store, [created(topic(`other${n}`), { email: `y${n}` })]),
      );
      const fates = await Promise.allSettled(same);
      await Promise.all(others);
      const refused = fates.filter((fate) => fate.status === "rejected");
      assert.equal(refused.length, 99);
      for (const { reason } of refused) assert.equal(reason.code, "UNIQUE_VIOLATION");
      assert.equal(await store.count("topics"), 21);
    }),
  );

  test(
    "a refused commit keeps no receipt",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" })]);
      const receipt = { key: "k", fingerprint: "f", answer: "{}", expiresAt: at + 1_000 };
      await rejectsWith(
        "UNIQUE_VIOLATION",
        commit(store, [created(topic("b"), { email: "x" })], { receipt }),
      );
      assert.equal(await store.receipt("k", at), undefined);
    }),
  );

  test(
    "a load leaves out what collides, with what is there or in the load itself, and says where",
    onStore(open, async (store) => {
      await declare(store);
      await commit(store, [created(topic("a"), { email: "x" })]);
      const load = await store.load("topics");
      const arrivals = [
        { id: "b", text: textOf("b", { email: "x" }) },
        { id: "c", text: textOf("c", { email: "y" }) },
        { id: "d", text: textOf("d", { email: "y" }) },
        { id: "a", text: textOf("a", { email: "z" }) },
        { id: "e", text: textOf("e", { email: "z" }) },
      ];
      const { refused } = await load.add(arrivals);
      assert.deepEqual(refused, [
        { position: 0, pointers: ["#/email"] },
        { position: 2, pointers: ["#/email"] },
        { position: 3, pointers: [] },
      ]);
      await load.finish();
      assert.deepEqual(await scannedIds(store, "topics"), ["a", "c", "e"]);
    }),
  );

  test(
    "unique attributes outlive the store's opening, and end when they are declared no more",
    onStore(open, async (store, reopen) => {
      await commit(store, [created(topic("a"), { email: "x" }), created(topic("b"), { email: "x" })]);
      await declare(store);
      assert.deepEqual(store.collections().get("topics")?.unique, [email]);
      await commit(store, [updated(topic("a"), 1, { email: "y" })]);
      const again = await reopen();
      assert.deepEqual(again.collections().get("topics")?.unique, [email]);
      await rejectsWith("UNIQUE_VIOLATION", commit(again, [created(topic("c"), { email: "x" })]));
      await declare(again, []);
      await commit(again, [created(topic("c"), { email: "x" })]);
    }),
  );

  test(
    "a combination is taken only as a whole, and the refusal names all its attributes and the holder",
    onStore(open, async (store) => {
      await declare(store, [seat]);
      const first = { train: "IC5", day: "2026-01-31", seat: 12, status: "open" };
      await commit(store, [created(topic("a"), first)]);
      await assert.rejects(
        commit(store, [created(topic("b"), { ...first, day: "2026-01-31T00:00:00Z" })]),
        ({ code, attributes, takenBy, message }: Problem) => {
          assert.deepEqual([code, attributes], ["UNIQUE_VIOLATION", ["#/train", "#/day", "#/seat"]]);
          assert.equal(takenBy, "a");
          assert.equal(message, '"train", "day" and "seat" repeat the values of another resource.');
          return true;
        },
      );
      const others = [
        { train: "ic5" },
        { day: "2026-02-01" },
        { seat: "12" },
        { seat: null },
        { train: undefined },
      ];
      for (const [n, other] of others.entries())
        await commit(store, [created(topic(`c${n}`), { ...first, ...other })]);
    }),
  );

  test(
    "only resources that match the filter conflict, also those that come to match it",
    onStore(open, async (store) => {
      await declare(store, [{ ...email, where: whereOpen }]);
      const isOpen = { email: "x", status: "open" };
      await commit(store, [created(topic("a"), isOpen), created(topic("b"), { email: "x", status: "done" })]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [updated(topic("b"), 1, isOpen)]));
      await commit(store, [updated(topic("a"), 1, { email: "x", status: "done" })]);
      await commit(store, [updated(topic("b"), 1, isOpen)]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [updated(topic("a"), 2, isOpen)]));
      await commit(store, [updated(topic("b"), 2, { email: "x" }), updated(topic("a"), 2, isOpen)]);
    }),
  );

  test(
    "a delete that clears a reference does not make two resources equal",
    onStore(open, async (store) => {
      const withoutTeam = { kind: "exists", path: ["team"] as const, value: false };
      const where = {
        declared: { team: { exists: false } },
        paths: [["team"]] as const,
        filter: withoutTeam,
      };
      const references = [{ path: ["team"] as const, collection: "users", onDelete: "clear" as const }];
      await store.migrate([declaration("users")]);
      await store.migrate([declaration("topics", { unique: [{ ...email, where }], references })]);
      await commit(store, [created(user("u1")), created(user("u2"))]);
      await commit(store, [
        created(topic("a"), { email: "x", team: "u1" }),
        created(topic("b"), { email: "x", team: "u2" }),
        created(topic("c"), { email: "y", team: "u2" }),
      ]);
      await rejectsWith("REFERENCED", commit(store, [deleted(user("u1"), 1), deleted(user("u2"), 1)]));
      await commit(store, [deleted(user("u1"), 1)]);
      await rejectsWith("REFERENCED", commit(store, [deleted(user("u2"), 1)]));
      await commit(store, [deleted(topic("a"), 2), deleted(user("u2"), 1)]);
      assert.deepEqual(await scannedIds(store, "topics"), ["b", "c"]);
    }),
  );

  test(
    "of commits at once that take one combination in a filter, one happens",
    onStore(open, async (store) => {
      await declare(store, [seat]);
      const same = Array.from({ length: 40 }, (_, n) =>
        commit(store, [created(topic(`t${n}`), { train: "IC5", day: 1, seat: 7, status: "open" })]),
      );
      const beside = Array.from({ length: 20 }, (_, n) =>
        commit(store, [created(topic(`d${n}`), { train: "IC5", day: 1, seat: 7, status: "done" })]),
      );
      const fates = await Promise.allSettled(same);
      await Promise.all(beside);
      assert.equal(fates.filter(({ status }) => status === "fulfilled").length, 1);
    }),
  );

  test(
    "a declaration of combinations counts the resources that are there, and another filter counts others",
    onStore(open, async (store, reopen) => {
      const open = { train: "IC5", day: 1, seat: 7, status: "open" };
      await commit(store, [created(topic("a"), open), created(topic("b"), { ...open, status: "done" })]);
      await declare(store, [seat]);
      await rejectsWith("UNIQUE_VIOLATION", commit(store, [created(topic("c"), open)]));
      const again = await reopen();
      assert.deepEqual(again.collections().get("topics")?.unique, [seat]);
      await rejectsWith("UNIQUE_VIOLATION", commit(again, [created(topic("c"), open)]));
      await commit(again, [created(topic("c"), { ...open, status: "done" })]);
      const done = { ...whereOpen.filter, values: ["done"] };
      await declare(again, [{ ...seat, where: { ...whereOpen, filter: done } }]);
      await commit(again, [created(topic("d"), open)]);
      await rejectsWith(
        "UNIQUE_VIOLATION",
        commit(again, [created(topic("e"), { ...open, status: "done" })]),
      );
    }),
  );
}

/** Unique values in random commits and imports. */
export function uniqueProperty(open: OpenFixture, runs: Runs): void {
  test(
    "random commits and imports are accepted if no two resources would be equal, by an oracle",
    onStore(open, async (store) => {
      let round = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(wish, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
          async (steps) => {
            const collection = `things${round++}`;
            await store.migrate([declaration(collection, { unique: oracles.map(({ unique }) => unique) })]);
            const kept = new Map<string, { version: number; attributes: Thing }>();
            for (const wishes of steps) {
              const next = new Map(kept);
              const changes: Change[] = [];
              for (const [id, attributes] of new Map(wishes.map(({ id, ...rest }) => [id, rest]))) {
                const version = kept.get(id)?.version ?? 0;
                next.set(id, { version: version + 1, attributes });
                const key = { collection, id };
                changes.push(version === 0 ? created(key, attributes) : updated(key, version, attributes));
              }
              const fits = !hasTwins([...next].map(([, { attributes }]) => attributes));
              const outcome = await commit(store, changes).then(
                () => true,
                (error: Problem) => error.code !== "UNIQUE_VIOLATION" && Promise.reject(error),
              );
              assert.equal(outcome, fits, JSON.stringify([...next]));
              if (fits) for (const [id, each] of next) kept.set(id, each);
            }
            const load = await store.load(collection);
            const arrivals = steps.flat().map((attributes, n) => ({ ...attributes, id: `l${n}` }));
            const { refused } = await load.add(
              arrivals.map(({ id, ...rest }) => ({ id, text: textOf(id, rest) })),
            );
            const accepted = [...kept.values()].map(({ attributes }) => attributes);
            const expected = arrivals.flatMap(({ id: _, ...attributes }, position) => {
              if (hasTwins([...accepted, attributes])) return [position];
              accepted.push(attributes);
              return [];
            });
            assert.deepEqual(
              refused.map(({ position }) => position),
              expected,
            );
            await load.cancel();
          },
        ),
        { numRuns: runs(40) },
      );
    }),
  );
}

interface Thing {
  a?: string | null | undefined;
  b?: number | string | null | undefined;
  status?: string | undefined;
  n?: number | undefined;
}

const wish = fc.record({
  id: fc.constantFrom("1", "2", "3", "4"),
  a: fc.constantFrom("x", "X", "y", "x".repeat(99), null, undefined),
  b: fc.constantFrom(1, "1", null, undefined),
  status: fc.constantFrom("open", "done", undefined),
  n: fc.constantFrom(1, 2, undefined),
});

/** Unique combinations, and for each whether a resource counts and what it is compared by, without the code under test. */
const oracles: readonly { unique: Unique; keyOf(thing: Thing): string | undefined }[] = [
  {
    unique: { path: ["a"], others: [{ path: ["b"] }], ignoreCase: true, where: whereOpen },
    keyOf: ({ a, b, status }) =>
      status === "open" && a != null && b != null ? `${a.toLowerCase()}/${typeof b}${b}` : undefined,
  },
  {
    unique: { path: ["b"], others: [{ path: ["n"] }, { path: ["status"] }], ignoreCase: false },
    keyOf: ({ b, n, status }) =>
      b != null && n !== undefined && status !== undefined ? `${typeof b}${b}/${n}/${status}` : undefined,
  },
  {
    unique: {
      path: ["a"],
      ignoreCase: false,
      where: {
        declared: {},
        paths: [],
        filter: {
          kind: "and",
          filters: [
            { kind: "gte", path: ["n"], values: [2] },
            { kind: "not", filter: { kind: "exists", path: ["status"], value: true } },
          ],
        } as Filter,
      },
    },
    keyOf: ({ a, n, status }) => (n === 2 && status === undefined && a != null ? a : undefined),
  },
];

function hasTwins(things: readonly Thing[]): boolean {
  return oracles.some(({ keyOf }) => {
    const keys = things.map(keyOf).filter((key) => key !== undefined);
    return new Set(keys).size < keys.length;
  });
}
