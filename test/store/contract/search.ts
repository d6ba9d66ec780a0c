/** Full-text search: the store finds the same resources as a search in memory. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { foldText } from "../../../src/collection/folding.ts";
import { type Path, parsePath, valueAt } from "../../../src/collection/paths.ts";
import type { Reference } from "../../../src/collection/references.ts";
import { matches } from "../../../src/query/filter.ts";
import { readTerms, termsOf, wordsOf } from "../../../src/query/search-words.ts";
import { compareBy, cursorValuesOf } from "../../../src/query/sort.ts";
import type { ListQuery, Page } from "../../../src/store/port/page.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { until } from "../../until.ts";
import {
  commit,
  created,
  declaration,
  deleted,
  type OpenFixture,
  onStore,
  type Runs,
  rejectsWith,
  textOf,
  topic,
  updated,
} from "./fixture.ts";

type Resource = Record<string, unknown>;

const pathsOf = (names: readonly string[]) => names.map((name) => parsePath(name) as Path);

const declare = (store: Store, names: readonly string[], references: readonly Reference[] = []) =>
  store.migrate([declaration("topics", { search: pathsOf(names), references })]);

/** A page, once the words are indexed. */
async function search(store: Store, q: string, more: Partial<ListQuery> = {}): Promise<Page> {
  let page: Page | undefined;
  await until("the words are indexed", async () => {
    const listed = store.list({ collection: "topics", limit: 1_000, words: termsOf(q), ...more });
    page = await listed.catch((error: { code?: unknown }) => {
      if (error.code !== "UNAVAILABLE") throw error;
      return undefined;
    });
    return page !== undefined;
  });
  return page as unknown as Page;
}

const idsOf = ({ items }: Page) => items.map(({ id }) => id);

const found = async (store: Store, q: string) => idsOf(await search(store, q)).sort();

/** Whether the strings, or strings in arrays, at the paths have each term. */
function isFound(resource: Resource, q: string, paths: readonly Path[]): boolean {
  const texts = paths.flatMap((path) => valueAt(resource, path)).filter((text) => typeof text === "string");
  const words = texts.flatMap((text) => wordsOf(text));
  const { beginnings, whole, literals } = readTerms(termsOf(q));
  return (
    beginnings.every((asked) => words.some((word) => word.startsWith(asked))) &&
    whole.every((asked) => words.includes(asked)) &&
    literals.every((asked) => texts.some((text) => foldText(text).includes(asked)))
  );
}

const fragments = [
  "a",
  "ab",
  "abc",
  "Á",
  "don-quixote",
  "o'neil",
  "OR",
  "not",
  "東京",
  "ł",
  "Straße",
  "привет",
  "हि",
  "x2",
  "C++",
  "c",
  "c#.",
  "(.NET)",
  "net",
  "A*",
  "Ä*",
  "ab++",
];
const text = fc.array(fc.constantFrom(...fragments), { maxLength: 4 }).map((parts) => parts.join(" "));
const value = fc.oneof(
  { weight: 4, arbitrary: text },
  {
    weight: 2,
    arbitrary: fc.array(fc.oneof(text, fc.constant(["ab"]), fc.constant({ a: "ab" })), { maxLength: 3 }),
  },
  { weight: 1, arbitrary: fc.record({ a: text, b: fc.constant("ab") }) },
  { weight: 1, arbitrary: fc.constantFrom(null, 5, true) },
);
const attributes = fc.record({ a: value, b: value }, { requiredKeys: [] });
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ id: fc.constantFrom("1", "2", "3", "4", "5"), next: fc.option(attributes) }),
  },
  { weight: 1, arbitrary: fc.subarray(["a", "b", "b.a"]) },
  { weight: 1, arbitrary: fc.constant("reopen" as const) },
);
const q = fc.oneof(
  text,
  fc.constantFrom(
    "a",
    "d q",
    "str",
    "o",
    "ne",
    "京",
    "при",
    'ab" OR "a',
    "!!",
    "c++",
    "C#",
    ".net",
    "a*",
    "A* a",
    "++ c",
  ),
);

export function searchContract(open: OpenFixture, runs: Runs): void {
  test("a search finds what each word begins a word of, after any changes and declarations", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 24 }),
        fc.array(q, { minLength: 1, maxLength: 4 }),
        (steps, asked) =>
          onStore(open, async (first, reopen) => {
            let store = first;
            let paths: readonly Path[] = pathsOf(["a"]);
            const kept = new Map<string, { version: number; resource: Resource }>();
            await declare(store, ["a"]);
            for (const each of steps) {
              if (each === "reopen") store = await reopen();
              else if (Array.isArray(each)) {
                paths = pathsOf(each);
                await declare(store, each);
              } else await apply(store, kept, each);
            }
            if (paths.length === 0) return;
            const resources = [...kept.values()].map(({ resource }) => resource);
            for (const words of asked) {
              const expected = resources.filter((resource) => isFound(resource, words, paths));
              const ids = expected.map(({ id }) => id).sort();
              const page = await search(store, words, { count: true });
              assert.deepEqual([idsOf(page).sort(), page.total, page.more], [ids, ids.length, false], words);
            }
          })(),
      ),
      { numRuns: runs(15) },
    );
  });

  test(
    "signs at the beginning or end of a word count, in every searched text and as they are folded",
    onStore(open, async (store) => {
      await declare(store, ["title", "tags"]);
      await commit(store, [
        created(topic("1"), { title: "Learn C++ now", tags: [] }),
        created(topic("2"), { title: "C and c", tags: ["C#", "ASP.NET"] }),
        created(topic("3"), { title: "abc++", tags: [".net", 7, ["C++"], { c: "C++" }] }),
        created(topic("4"), { title: "Ａ＊ search", tags: ["Ärger+"] }),
        created(topic("5"), { title: "c+", other: "C++" }),
        created(topic("6"), { title: { text: "C++" }, tags: "C++" }),
      ]);
      const asked = async (q: string) => {
        const page = await search(store, q, { count: true });
        assert.equal(page.total, page.items.length, q);
        return idsOf(page).sort().join("");
      };
      for (const [q, ids] of [
        ["C++", "16"],
        ["c", "1256"],
        ["C#", "2"],
        [".NET", "23"],
        ["net", "23"],
        ["a*", "4"],
        ["arger+", "4"],
        ["Learn C++", "1"],
        ["(C++)?", "16"],
        ["++ c", "1256"],
        ["c++ c#", ""],
        ["c+\ud800+", ""],
      ] as const)
        assert.equal(await asked(q), ids, q);
      const backwards: Partial<ListQuery> = { limit: 1, sort: [{ path: ["id"], descending: true }] };
      const first = await search(store, "c++", backwards);
      assert.deepEqual([idsOf(first), first.more], [["6"], true]);
      const rest = await search(store, "c++", { ...backwards, after: ["6"] });
      assert.deepEqual([idsOf(rest), rest.more], [["1"], false]);
      const ranked = [0, 1].map(async (offset) => idsOf(await search(store, "c++", { limit: 1, offset })));
      assert.deepEqual((await Promise.all(ranked)).flat().sort(), ["1", "6"]);
    }),
  );

  test(
    "of nested attributes the declared ones are searched, of arrays their strings, and nothing else",
    onStore(open, async (store) => {
      await declare(store, ["title", "tags", "author.name", "note"]);
      await commit(store, [
        created(topic("1"), {
          title: "Plain",
          tags: ["red", "blue moon", 7, null, ["deep"], { in: "object" }],
          author: { name: "Ann", town: "Oslo" },
          note: { text: "inside" },
          other: "elsewhere",
          number: 12,
        }),
        created(topic("2"), { author: [{ name: "Listed" }], note: 12, title: true }),
      ]);
      for (const word of ["plain", "red", "moon", "ann"])
        assert.deepEqual(await found(store, word), ["1"], word);
      for (const word of [
        "deep",
        "object",
        "in",
        "oslo",
        "inside",
        "elsewhere",
        "7",
        "12",
        "listed",
        "true",
        "null",
      ]) {
        assert.deepEqual(await found(store, word), [], word);
      }
    }),
  );

  test(
    "what looks like a search language is words",
    onStore(open, async (store) => {
      await declare(store, ["t"]);
      const texts = ["a b", "a", "b", "near a b", "a or b", "x col word", "not a", "don quixote", "o neil"];
      await commit(
        store,
        texts.map((t, n) => created(topic(String(n)), { t })),
      );
      const expected: [string, string[]][] = [
        ['"', texts],
        ["*", texts],
        ["a OR b", ["a or b"]],
        ["NEAR(a b)", ["near a b"]],
        ["NEAR(a b, 2)", []],
        ["-x", ["x col word"]],
        ["t:word", []],
        ["{t}: word", []],
        ["col:word", ["x col word"]],
        ["a NOT b", []],
        ["NOT a", ["not a"]],
        ["^a", ["a b", "a", "near a b", "a or b", "not a"]],
        ['a" OR "b', ["a or b"]],
        ["a + b", ["a b", "near a b", "a or b"]],
        ["don-quixote", ["don quixote"]],
        ["O'Neil", ["o neil"]],
        ["'; drop table search_1; --", []],
      ];
      for (const [asked, wanted] of expected) {
        const ids = await found(store, asked);
        assert.deepEqual(ids.map((id) => texts[Number(id)]).sort(), [...wanted].sort(), asked);
      }
    }),
  );

  test(
    "each word counts, also one that is the beginning of another",
    onStore(open, async (store) => {
      await declare(store, ["t"]);
      await commit(store, [created(topic("1"), { t: "ab" }), created(topic("2"), { t: "x abcd" })]);
      for (const asked of ["ab", "a ab", "ab ab a"]) assert.deepEqual(await found(store, asked), ["1", "2"]);
      for (const asked of ["ab abc", "abc ab", "a abcd x"])
        assert.deepEqual(await found(store, asked), ["2"]);
      for (const asked of ["abcde", "ab y", "bc", "x x1"]) assert.deepEqual(await found(store, asked), []);
    }),
  );

  test(
    "no word is split or folded again by the store",
    onStore(open, async (store) => {
      await declare(store, ["t"]);
      const words = [
        "ʔaʔ",
        "हिन्दी",
        "தமிழ்",
        "ไทยภาษา",
        "한국어",
        "ΑΣ",
        "Ꭰꭰ",
        "𞤀𞤣",
        "𐐀𐐨",
        "१२३",
        "x１",
        "ﷺ",
        "か",
        "Ⅷ",
        "ⁿ",
      ];
      await commit(
        store,
        words.map((t, n) => created(topic(String(n).padStart(2, "0")), { t: `zz ${t} zz` })),
      );
      const beginnings = words
        .flatMap((text) => wordsOf(text))
        .flatMap((word) => [...word].map((_, n) => [...word].slice(0, n + 1).join("")));
      const points = [...words.flatMap((text) => wordsOf(text)).join(""), ..."aeiou0123456789"];
      for (const asked of new Set([...beginnings, ...points])) {
        const expected = words
          .map((t, n) => ({ id: String(n).padStart(2, "0"), words: wordsOf(t) }))
          .filter((each) =>
            wordsOf(asked).every((word) => each.words.some((other) => other.startsWith(word))),
          );
        assert.deepEqual(
          await found(store, asked),
          expected.map(({ id }) => id),
          asked,
        );
      }
    }),
  );

  test(
    "those that match best come first, equal ones by id, and pages go on where the last one ended",
    onStore(open, async (store) => {
      await declare(store, ["t"]);
      const filler = "lorem ipsum dolor sit amet";
      await commit(store, [
        created(topic("a"), { t: `${filler} ${filler} ${filler} word` }),
        created(topic("c"), { t: "word word word" }),
        created(topic("e"), { t: `word ${filler}` }),
        created(topic("d"), { t: `word ${filler}` }),
        created(topic("b"), { t: `word ${filler}` }),
        created(topic("f"), { t: filler }),
        created(topic("g"), { t: filler }),
        created(topic("h"), { t: filler }),
        created(topic("i"), { t: filler }),
        created(topic("j"), { t: filler }),
        created(topic("k"), { t: filler }),
      ]);
      const ranked = ["c", "b", "d", "e", "a"];
      assert.deepEqual(idsOf(await search(store, "word")), ranked);
      const paged: string[] = [];
      for (let offset = 0; offset < 6; offset += 2) {
        const page = await search(store, "word", { offset, limit: 2 });
        assert.equal(page.more, offset < 4);
        paged.push(...idsOf(page));
      }
      assert.deepEqual(paged, ranked);
    }),
  );

  test(
    "a search goes with filters, sorts and cursors",
    onStore(open, async (store) => {
      await declare(store, ["t"]);
      const resources = Array.from({ length: 40 }, (_, n) => ({
        id: String(n).padStart(2, "0"),
        t: n % 3 === 0 ? "apple pie" : "pear",
        n: (n * 7) % 10,
      }));
      await commit(
        store,
        resources.map(({ id, ...more }) => created(topic(id), more)),
      );
      const filter = { kind: "gt", path: ["n"], values: [2] } as const;
      const sort = [{ path: ["n"], descending: true }] as const;
      const wanted = resources
        .filter((resource) => resource.t.startsWith("apple") && matches(filter, resource))
        .sort(compareBy(sort));
      const all = await search(store, "pie APP", { filter, sort, count: true });
      assert.deepEqual([idsOf(all), all.total], [wanted.map(({ id }) => id), wanted.length]);
      const walked: string[] = [];
      for (let more: Partial<ListQuery> = {}; ; ) {
        const page = await search(store, "app", { filter, sort, limit: 3, ...more });
        walked.push(...idsOf(page));
        if (!page.more) break;
        more = { after: cursorValuesOf(JSON.parse(page.items.at(-1)?.text ?? ""), sort) };
      }
      assert.deepEqual(walked, idsOf(all));
      assert.equal((await search(store, "app", { filter })).total, undefined);
    }),
  );

  test(
    "a declaration reaches the resources that are there, in slices between which others write",
    onStore(open, async (store, reopen) => {
      const ids = Array.from({ length: 2_600 }, (_, n) => String(n).padStart(4, "0"));
      await commit(
        store,
        ids.map((id) => created(topic(id), { t: "old", u: "other" })),
      );
      await declare(store, ["t"]);
      const writes = ids
        .filter((_, n) => n % 100 === 0)
        .map((id, n) =>
          commit(store, [n % 2 === 0 ? updated(topic(id), 1, { t: "new" }) : deleted(topic(id), 1)]),
        );
      await Promise.all(writes);
      const again = await reopen(); // wherever it was
      await commit(again, [created(topic("x"), { t: "new" })]);
      assert.equal((await found(again, "old")).length, 1_000);
      assert.equal((await search(again, "old", { count: true })).total, 2_600 - 26);
      assert.equal((await found(again, "new")).length, 14);
      await declare(again, ["u"]);
      assert.equal((await search(again, "other", { count: true })).total, 2_600 - 26);
      assert.deepEqual(await found(again, "old"), []);
    }),
  );

  test(
    "the search index of large resources is built in small slices",
    onStore(open, async (store) => {
      const pad = "-".repeat(300 * 1024);
      const ids = Array.from({ length: 40 }, (_, n) => String(n));
      for (const id of ids) await commit(store, [created(topic(id), { t: "word", u: "word", pad })]);
      // A slow test can miss that the index is being built, so it is built again until a search comes in the middle of it.
      const page = { collection: "topics", limit: 1, words: ["word"] } as const;
      let builds = 0;
      await until("a search comes before the last slice of the index", async () => {
        await declare(store, [builds++ % 2 === 0 ? "t" : "u"]);
        return store.list(page).then(
          () => false,
          ({ code }: { code?: unknown }) => code === "UNAVAILABLE",
        );
      });
      assert.equal((await search(store, "word", { count: true })).total, ids.length);
    }),
  );

  test(
    "an import is searched once it is finished, and never when it is cancelled",
    onStore(open, async (store) => {
      await declare(store, ["t"]);
      const arrival = (id: string) => ({ id, text: textOf(id, { t: "brought" }) });
      const load = await store.load("topics");
      await load.add([arrival("1"), arrival("2")]);
      await load.cancel();
      assert.deepEqual(await found(store, "brought"), []);
      const searched = declaration("topics", { search: pathsOf(["t", "u"]) });
      const other = await store.load(searched);
      await other.add([arrival("1"), arrival("2")]);
      await other.cancel();
      await commit(store, [created(topic("3"), { t: "here", u: "unseen" })]);
      assert.deepEqual(await found(store, "here"), ["3"]);
      assert.deepEqual(await found(store, "unseen"), []);
      const last = await store.load(searched);
      await last.add([arrival("1"), arrival("3")]);
      await last.finish();
      assert.deepEqual(await found(store, "brought"), ["1"]);
      assert.deepEqual(await found(store, "unseen"), ["3"]);
    }),
  );

  test(
    "a commit that is refused leaves the words as they were",
    onStore(open, async (store) => {
      await declare(store, ["t"], [{ path: ["other"], collection: "topics", onDelete: "restrict" }]);
      await commit(store, [created(topic("1"), { t: "first" })]);
      await rejectsWith(
        "REFERENCE_NOT_FOUND",
        commit(store, [updated(topic("1"), 1, { t: "second", other: "9" })]),
      );
      await assert.rejects(
        commit(store, [updated(topic("1"), 1, { t: "second" }), updated(topic("2"), 1, { t: "second" })]),
      );
      assert.deepEqual([await found(store, "first"), await found(store, "second")], [["1"], []]);
    }),
  );
}

/** Creates, changes or deletes one resource. */
async function apply(
  store: Store,
  kept: Map<string, { version: number; resource: Resource }>,
  { id, next }: { id: string; next: Resource | null },
): Promise<void> {
  const before = kept.get(id);
  if (next !== null) {
    const resource = { id, ...next };
    await commit(store, [
      before === undefined ? created(topic(id), next) : updated(topic(id), before.version, next),
    ]);
    kept.set(id, { version: (before?.version ?? 0) + 1, resource });
  } else if (before !== undefined) {
    await commit(store, [deleted(topic(id), before.version)]);
    kept.delete(id);
  }
}
