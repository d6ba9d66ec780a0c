/** The typed client against a service. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import {
  type Client,
  ConflictError,
  createClient,
  etagOf,
  NotFoundError,
  ProblemError,
  problemCodes,
} from "../../client/src/index.ts";
import { problems } from "../../src/errors.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { type Service, startFor, startService } from "../http/service.ts";
import { machineTime, nextMillisecond } from "../until.ts";
import { config } from "./config.ts";

test("the client knows every code of the service, and no other", () => {
  assert.deepEqual(problemCodes, Object.keys(problems));
});

test("the client imports nothing but itself", () => {
  for (const file of readdirSync("client/src"))
    for (const [, from] of readFileSync(`client/src/${file}`, "utf8").matchAll(
      /(?:from|import\()\s*"([^"]+)"/g,
    ))
      assert.match(from ?? "", /^\.\/[a-z-]+\.ts$/, file);
});

test("a caller who can write and not read gets the id of what it wrote", async (t) => {
  const pair = createPair("EdDSA");
  const access = { read: "authenticated", write: "authenticated" } as const;
  const service = await startFor(t, {
    auth: { keys: false, jwt: settingsFor([pair]) },
    collections: { books: { id: "integer", access }, notes: { access } },
  });
  const baseUrl = `${service.origin}/api/v1`;
  const clientWith = (scope: object) =>
    createClient<typeof config>({
      baseUrl,
      token: tokenOf(pair, claimsAt(machineTime(), { sub: "ann", ...scope })),
    });
  const reader = clientWith({});
  const { books, notes, $batch } = clientWith({ scope: "books:write notes:write" });
  const book = await books.create({ title: "Emma" });
  assert.deepEqual(Object.entries(book), [["id", 1]]);
  const note = await notes.create({ text: "one" });
  assert.deepEqual(Object.keys(note), ["id"]);
  assert.equal((await reader.notes.get(note.id)).text, "one");
  assert.deepEqual(Object.entries(await notes.patch(note.id, { text: "two" })), [["id", note.id]]);
  const [inBatch] = await $batch((batch) => [batch.books.create({ title: "Lady Susan" })]);
  assert.deepEqual(Object.entries(inBatch), [["id", 2]]);
  assert.deepEqual(Object.entries(await notes.create({ text: "own" }, { id: "7" })), [["id", "7"]]);
  const [chosen] = await $batch((batch) => [batch.notes.create({ text: "own" }, { id: "8" })]);
  assert.deepEqual(Object.entries(chosen), [["id", "8"]]);
  const replaced = await books.replace({ id: book.id, title: "Persuasion" }, { ifMatch: "*" });
  assert.deepEqual(Object.entries(replaced), [["id", 1]]);
  assert.equal((await reader.books.get(book.id)).title, "Persuasion");
  await assert.rejects(
    books.replace({ ...replaced, title: "No" }),
    /version of this resource is unknown|fields/,
  );
});

describe("the client", () => {
  let service: Service;
  let client: Client<typeof config>;
  before(async () => {
    service = await startService({ collections: config.collections });
    client = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1/` });
  });
  after(() => service.stop());

  test("creates, reads, replaces, patches and deletes", async () => {
    const { articles } = client;
    const created = await articles.create({ title: "One", views: 1 });
    assert.deepEqual({ ...created }.status, "draft");
    const read = await articles.get(created.id);
    assert.deepEqual(read, created);
    const replaced = await articles.replace({ ...read, title: "Two" });
    assert.deepEqual([replaced.title, etagOf(replaced)], ["Two", '"2"']);
    const patched = await articles.patch(replaced, { views: null });
    assert.deepEqual(Object.keys(patched).sort(), ["id", "status", "title"]);
    const pointed = await articles.patch(patched, [{ op: "add", path: "/tags", value: ["a"] }]);
    assert.deepEqual(pointed.tags, ["a"]);
    assert.equal(await articles.delete(pointed), undefined);
    await assert.rejects(articles.get(created.id), NotFoundError);
    await assert.rejects(articles.delete(created.id), NotFoundError);
  });

  test("creates with an id of the caller's choice, alone and in a batch", async () => {
    const { articles, notes, $batch } = client;
    const note = await notes.create({ text: "one" }, { id: "own-7" });
    assert.deepEqual([note.id, note.text, etagOf(note)], ["own-7", "one", '"1"']);
    assert.deepEqual(await notes.get("own-7"), note);
    const again = await notes.create({ text: "two" }, { id: "own-7" }).catch((error: unknown) => error);
    assert.ok(again instanceof ConflictError);
    assert.deepEqual(again.current, note);
    const article = await articles.create({ title: "One" }, { id: "42" });
    assert.deepEqual([article.id, article.title, article.status], ["42", "One", "draft"]);
    const idempotencyKey = "own-43";
    const made = await articles.create({ title: "Two" }, { id: "43", idempotencyKey });
    assert.deepEqual(await articles.create({ title: "Two" }, { id: "43", idempotencyKey }), made);
    const [inBatch, changed] = await $batch((batch) => {
      const planned = batch.notes.create({ text: "three" }, { id: "own-8" });
      return [planned, batch.notes.patch(planned.id, { text: "four" })];
    });
    assert.deepEqual(
      [inBatch.id, inBatch.text, changed.text, etagOf(changed)],
      ["own-8", "three", "four", '"1"'],
    );
    for (const each of [article, made]) await articles.delete(each);
    for (const each of [note, changed]) await notes.delete(each);
  });

  test("updates by operators, and repeats them without a second effect", async () => {
    const { articles } = client;
    const created = await articles.create({ title: "One", views: 1, author: { name: "Ann" } });
    const updated = await articles.update(created.id, {
      views: { $increment: 2 },
      tags: { $addUnique: ["a", "a"] },
      "author.name": { $set: "Bob" },
    });
    assert.deepEqual([updated.views, updated.tags, updated.author], [3, ["a"], { name: "Bob" }]);
    await assert.rejects(articles.update(created, { views: { $increment: 1 } }), ConflictError);
    const [again] = await client.$batch(({ articles }) => [articles.update(updated, { views: { $max: 9 } })]);
    assert.deepEqual([again.views, etagOf(again)], [9, '"3"']);
    await assert.rejects(articles.update(created.id, { views: { $increment: 1e300 } }), {
      code: "INVALID_PATCH",
    });
  });

  test("changes many resources, or says what would change", async () => {
    const { books } = client;
    for (const year of [1701, 1702, 1703]) await books.create({ title: "Old", year });
    const filter = { title: "Old", year: { gt: 1701 } };
    const dry = await books.bulk({ filter, update: { year: { $increment: 100 } }, max: 2, dryRun: true });
    const done = await books.bulk({ filter, update: { year: { $increment: 100 } }, max: 2 });
    assert.deepEqual({ ...done, dryRun: true }, dry);
    assert.deepEqual([done.matched, done.changed, done.ids.length], [2, 2, 2]);
    const years = await books.list({ filter: { title: "Old" }, sort: "year" }).all();
    assert.deepEqual(
      years.map(({ year }) => year),
      [1701, 1802, 1803],
    );
    const refused = await books
      .bulk({ filter: { title: "Old" }, delete: true, max: 2 })
      .catch((error) => error);
    assert.ok(refused instanceof ProblemError);
    assert.deepEqual([refused.code, refused.problem.matched], ["TOO_MANY_MATCHES", 3]);
    assert.equal((await books.bulk({ filter: { title: "Old" }, delete: true, max: 3 })).changed, 3);
  });

  test("imports many resources, or says which are invalid", async () => {
    const { articles } = client;
    const dry = await articles.import([{ id: "im-1", title: "One" }], { dryRun: true });
    assert.deepEqual([dry.dryRun, dry.imported], [true, 1]);
    const done = await articles.import([{ id: "im-1", title: "One" }, { title: "Two" }]);
    assert.deepEqual([done.imported, done.generatedIds.first], [2, [{ line: 1, element: 2 }]]);
    assert.equal((await articles.get("im-1")).status, "draft");
    const csv = new Blob(["id\ttitle\tviews\nim-2\tThree\t7\nim-1\tAgain\t1\n"]);
    await assert.rejects(
      articles.import(csv, { type: "text/csv", delimiter: "tab" }),
      (error: ProblemError) => {
        assert.equal(error.code, "INVALID_IMPORT");
        assert.deepEqual(
          error.problem.report?.errors?.map(({ line, pointer }) => [line, pointer]),
          [[3, "#/id"]],
        );
        return true;
      },
    );
    const options = { type: "text/csv", delimiter: "tab", skipInvalid: true } as const;
    assert.equal((await articles.import(csv, options)).imported, 1);
    assert.equal((await articles.get("im-2")).views, 7);
    const lines = ReadableStream.from(
      ['{"id":"im-3",', '"title":"Streamed"}'].map((part) => Buffer.from(part)),
    );
    const { imported } = await articles.import(lines, { type: "application/x-ndjson" });
    assert.deepEqual([imported, (await articles.get("im-3")).title], [1, "Streamed"]);
    const comma = {
      type: "text/csv",
      types: "infer",
      convert: ["numbers", "times"],
      timezone: "UTC",
    } as const;
    const { columns } = await articles.import('title,views\nFour,"8,0"\n', { ...comma, dryRun: true });
    assert.deepEqual(columns?.[1], { name: "views", types: ["number"], converted: 1 });
  });

  test("begins tasks, follows them to their ends, and takes them back", async () => {
    const { articles } = client;
    const resources = [1, 2, 3].map((n) => ({ id: `task-${n}`, title: "For a task" }));
    const imported = await client.$tasks.finished(await articles.importTask(resources));
    assert.deepEqual([imported.kind, imported.state, imported.changed], ["import", "done", 3]);
    const none = await client.$tasks.finished(await articles.restoreDeletedTask({ all: true, max: 5_000 }));
    assert.deepEqual([none.kind, none.state], ["restore", "done"]);
    const began = await articles.bulkTask({
      filter: { title: "For a task" },
      patch: { title: "Done" },
      max: 3,
    });
    const states: string[] = [];
    const done = await client.$tasks.finished(began, {
      everyMs: 1,
      onProgress: ({ state }) => states.push(state),
    });
    assert.deepEqual([done.state, done.changed, states.at(-1)], ["done", 3, "done"]);
    assert.equal((await articles.get("task-2")).title, "Done");
    const undo = await client.$tasks.finished(await client.$tasks.undo(done.id));
    assert.deepEqual([undo.undoes, undo.changed], [done.id, 3]);
    assert.equal((await articles.get("task-2")).title, "For a task");
    assert.equal((await client.$tasks.cancel(done.id)).state, "done");
    assert.deepEqual(
      (await client.$tasks.list({ limit: 1 })).map(({ id }) => id),
      [undo.id],
    );
    const rewind = await client.$tasks.rewind({
      to: new Date(machineTime()),
      collections: ["articles"],
      max: 9,
      dryRun: true,
    });
    assert.equal((await client.$tasks.finished(rewind)).state, "done");
    await assert.rejects(client.$tasks.get("none"), NotFoundError);
    await articles.bulk({ filter: { title: "For a task" }, delete: true, max: 3 });
  });

  test("goes back in time, or says what would not fit", async () => {
    const { articles } = client;
    const { id } = await articles.create({ title: "Before" });
    const then = new Date(machineTime());
    await nextMillisecond();
    await articles.patch(id, { title: "After" });
    const dry = await client.$rewind({ to: then, collections: ["articles"], max: 1, dryRun: true });
    assert.deepEqual([dry.dryRun, dry.replaced, dry.misfits.first], [true, 1, []]);
    const done = await client.$rewind({ to: then, collections: ["articles"], max: 1 });
    assert.deepEqual([done.replaced, (await articles.get(id)).title], [1, "Before"]);
    await client.$rewind({ to: done.before ?? "", collections: ["articles"], max: 1 });
    assert.equal((await articles.get(id)).title, "After");
    await assert.rejects(client.$rewind({ to: "2999-01-01", max: 1 }), ProblemError);
  });

  test("reads integer ids and service-made timestamps, and chosen attributes", async () => {
    const { books } = client;
    const { id, createdAt } = await books.create({ title: "Emma", year: 1815 });
    assert.equal(typeof id, "number");
    assert.match(createdAt ?? "", /^\d{4}-/);
    const cut = await books.get(id, { fields: ["title"] });
    assert.deepEqual(JSON.parse(JSON.stringify(cut)), { id, title: "Emma" });
  });

  test("finds the name of a collection that looks like something else", async () => {
    assert.equal(await Promise.resolve(client), client);
    assert.equal(client.notes, client.notes);
    const open = createClient({ baseUrl: `${service.origin}/api/v1` }) as unknown as {
      toString: Client<typeof config>["notes"];
      then: Client<typeof config>["notes"];
    };
    assert.equal(await Promise.resolve(open), open);
    for (const collection of [open.toString, open.then])
      await assert.rejects(async () => collection.list().page(), NotFoundError);
  });

  test("says which collection a misspelled one can mean", async () => {
    const open = createClient({ baseUrl: `${service.origin}/api/v1` }) as unknown as {
      artciles: Client<typeof config>["articles"];
    };
    await assert.rejects(async () => open.artciles.list().page(), {
      name: "NotFoundError",
      message: 'The service responded with status 404: did you mean "articles"?',
    });
  });

  test("reads the list of collections", async () => {
    const names = Object.keys(config.collections).sort();
    const expected = names.map((name) => ({ name, href: `/api/v1/${name}` }));
    assert.deepEqual(await client.$collections(), expected);
    await assert.rejects(client.$collections({ signal: AbortSignal.abort(new Error("enough")) }), /enough/);
  });

  test("tells a problem by its code, and what is wrong with each attribute", async () => {
    const wrong = client.articles.create({ title: "" });
    await assert.rejects(wrong, (error) => {
      assert.ok(error instanceof ProblemError);
      assert.deepEqual([error.status, error.code], [400, "VALIDATION_FAILED"]);
      assert.deepEqual(error.errors, { title: "must have at least 1 character" });
      assert.equal(error.problem.violations?.[0]?.pointer, "#/title");
      assert.match(error.message, /title/);
      return true;
    });
  });

  test("carries out a batch whole, with references and what it gives", async () => {
    const { articles, $batch } = client;
    const old = await articles.create({ title: "Old" });
    const [made, changed, gone] = await $batch(({ articles }) => {
      const made = articles.create({ title: "New" });
      return [made, articles.patch(made, { views: 5 }), articles.delete(old)];
    });
    assert.deepEqual([made.title, changed.views, gone], ["New", 5, undefined]);
    assert.equal((await articles.replace({ ...changed, views: 6 })).views, 6, "the ETag came with it");
    const refused = $batch(({ articles }) => [articles.create({ title: "Not there" }), articles.delete(old)]);
    await assert.rejects(refused, (error) => error instanceof ProblemError && error.problem.operation === 1);
    assert.deepEqual(await articles.list({ filter: { title: "Not there" } }).all(), []);
  });

  test("makes no text of an id that is not known yet", async () => {
    const plan = client.$batch(({ articles }) => [
      articles.create({ title: `after ${articles.create({ title: "a" }).id}` }),
    ]);
    await assert.rejects(async () => plan, TypeError);
  });

  describe("lists", () => {
    before(async () => {
      for (let views = 0; views < 7; views++)
        await client.notes.create({ title: `note ${views}`, views, odd: views % 2 === 1 });
    });
    const viewsOf = (items: readonly Record<string, unknown>[]) => items.map(({ views }) => views);

    test("every resource, page after page", async () => {
      const seen: unknown[] = [];
      for await (const { views } of client.notes.list({ sort: "-views", limit: 2 })) seen.push(views);
      assert.deepEqual(seen, [6, 5, 4, 3, 2, 1, 0]);
    });

    test("figures of the list and of its groups, page after page", async () => {
      const sums = client.notes.figures({
        aggregate: ["count", "sum(views)"],
        group: ["odd"],
        filter: { views: { gte: 1 } },
        sort: "-count",
        limit: 1,
      });
      const expected = [
        { odd: false, count: 3, "sum(views)": 12 },
        { odd: true, count: 3, "sum(views)": 9 },
      ];
      assert.deepEqual(await sums.all(), expected);
      const { total, limit } = await client.notes.figures({ distinct: ["odd"] }).page();
      assert.deepEqual([total, limit], [2, 100]);
      // Too long for a URL, so the parameters are in the body of a QUERY.
      const ids = Array.from({ length: 200 }, () => "0198c5a0-0000-7000-8000-000000000000");
      const filter = { or: [{ id: ids }, { views: { gte: 1 } }] };
      assert.deepEqual(await client.notes.figures({ aggregate: ["max(views)"], filter }).all(), [
        { "max(views)": 6 },
      ]);
    });

    test("pages, with the number of resources", async () => {
      const pages = [];
      for await (const page of client.notes.list({ limit: 3, offset: 1 }).pages()) pages.push(page);
      assert.deepEqual(
        pages.map(({ items }) => viewsOf(items)),
        [
          [1, 2, 3],
          [4, 5, 6],
        ],
      );
      assert.deepEqual([pages[0]?.total, pages[0]?.limit], [7, 3]);
      assert.equal((await client.notes.list({ limit: "max" }).page()).limit, 1_000);
      const { items, total } = await client.notes
        .list({ limit: 1, filter: { odd: true }, count: "exact" })
        .page();
      assert.deepEqual([viewsOf(items), total], [[1], 3]);
    });

    test("by filter, sort and chosen attributes", async () => {
      const filter = { views: { gte: 2 }, or: [{ odd: true }, { views: 6 }] };
      const list = client.notes.list({ filter, sort: ["odd", "-views"], fields: ["views"] });
      const found = await list.all();
      assert.deepEqual(viewsOf(found), [6, 5, 3]);
      assert.deepEqual(Object.keys(found[0] ?? {}), ["id", "views"]);
      assert.deepEqual(viewsOf(await list.all()), [6, 5, 3], "a list can be walked again");
    });

    test("as of a time, page after page", async () => {
      const made = await client.books.create({ title: "One", kind: "poems", year: 1 });
      await client.books.create({ title: "Two", kind: "poems", year: 2 });
      const at = new Date(machineTime());
      for (let n = 0; n < 2; n++) await nextMillisecond();
      await client.books.patch(made, { year: 3 });
      await client.books.create({ title: "Four", kind: "poems", year: 4 });
      const years = async (time: Date | number | string, more: readonly number[] = []) => {
        const year = more.length === 0 ? { gt: 0 } : { in: more };
        const list = client.books.list({ at: time, limit: 1, filter: { kind: "poems", year } });
        return (await list.all()).map((book) => book.year);
      };
      assert.deepEqual(await years(at), [1, 2]);
      assert.deepEqual(await years(at.getTime()), [1, 2]);
      assert.deepEqual(await years("2999-01-01"), [3, 2, 4]);
      const long = Array.from({ length: 800 }, (_, n) => n + 100_000);
      assert.deepEqual(await years(at, [1, 3, ...long]), [1], "in the body of a QUERY");
    });

    test("by words, beyond the first page", async () => {
      for (const n of [1, 2, 3]) await client.articles.create({ title: `searched ${n}` });
      const found = await client.articles.list({ q: "searched", limit: 2 }).all();
      assert.equal(found.length, 3);
    });

    test("by a filter that is too long for a URL, page after page", async () => {
      const views = [...Array(7).keys(), ...Array.from({ length: 800 }, (_, n) => n + 100_000)];
      const list = client.notes.list({ filter: { views: { in: views } }, sort: ["-views"], limit: 3 });
      assert.deepEqual(viewsOf(await list.all()), [6, 5, 4, 3, 2, 1, 0]);
    });
  });
});
