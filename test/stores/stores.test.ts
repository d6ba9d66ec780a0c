/** This version opens every store of a release with all its contents, and can continue to write to it. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, type TestContext, test } from "node:test";
import { folder, type RunningService, run, serve, stop } from "../commands/cli.ts";
import { openDatabase } from "../postgres/databases.ts";
import { until } from "../until.ts";
import { restore } from "./dump.ts";
import { type Answer, type Ask, askAt, look } from "./look.ts";
import { type Contents, type Release, readReleases } from "./release.ts";

const releases = readReleases();

test("there are stores of both kinds", () => {
  assert.deepEqual([...new Set(releases.map(({ kind }) => kind))].sort(), ["postgres", "sqlite"]);
});

/** Creates a copy of the store with its configuration. */
async function lay(
  t: TestContext,
  { kind, contents, data }: Release,
): Promise<{ cwd: string; store: string }> {
  const cwd = await folder(t);
  let store = `sqlite:${join(cwd, "store.db")}`;
  if (kind === "sqlite") writeFileSync(join(cwd, "store.db"), data);
  else {
    const { url, release } = await openDatabase();
    t.after(() => release());
    await restore(url, data.toString("utf8"));
    store = url;
  }
  const config = { ...contents.config, store, drainDelayMs: 0 };
  writeFileSync(join(cwd, "holdfast.config.json"), JSON.stringify(config));
  return { cwd, store };
}

const idOf = ({ text }: Answer) => (JSON.parse(text) as { id: string | number }).id;

async function requireReplayed(ask: Ask, { receipts }: Contents): Promise<void> {
  for (const { method, path, headers, body, status, text } of receipts) {
    const again = await ask(method, path, body, headers);
    assert.deepEqual([again.status, again.text], [status, text], path);
    assert.equal(again.headers.get("idempotent-replayed"), "true");
    const other = await ask(method, path, '{"other":1}', headers);
    assert.equal(other.status, 422, "the same key with other content");
  }
}

/** Writes to each collection, and checks that its declaration is enforced. */
async function goOn(ask: Ask, { ids }: Contents): Promise<void> {
  const expect = async (status: number, ...asked: Parameters<Ask>) => {
    const answer = await ask(...asked);
    assert.equal(answer.status, status, `${asked.join(" ")}: ${answer.text}`);
    return answer;
  };
  const person = { name: "Žofie Later", email: "later@example.org" };
  await expect(409, "POST", "/people", { ...person, email: "ADA@example.org" });
  const later = idOf(await expect(201, "POST", "/people", person));
  assert.match((await expect(200, "GET", "/people?q=later")).text, /Žofie Later/);
  await expect(400, "POST", "/articles", { title: "x", authorId: ids.people?.[4] });
  await expect(409, "POST", "/articles", { title: "x", authorId: later, slug: "winter" });
  const article = idOf(await expect(201, "POST", "/articles", { title: "Of a later one", authorId: later }));
  assert.ok(Number(article) > Math.max(...(ids.articles as number[])), "integer ids go on");
  await expect(200, "PATCH", `/articles/${article}`, { views: 1e6 });
  assert.match((await expect(200, "GET", "/articles?sort=-views&limit=1")).text, /Of a later one/);
  await expect(205, "DELETE", `/people/${later}`);
  await expect(404, "GET", `/articles/${article}`); // deleted together with the person
  const [note] = ids.notes ?? [];
  const { headers } = await expect(200, "GET", `/notes/${note}`);
  const isSame = { "if-match": String(headers.get("etag")) };
  await expect(200, "PATCH", `/notes/${note}`, { more: true }, isSame);
  await expect(412, "PATCH", `/notes/${note}`, { more: false }, isSame);
  await expect(200, "POST", `/notes/${note}/_restore`, { version: 1 });
  await expect(201, "POST", `/people/${ids.people?.[4]}/_restore`, { version: 1 });
  await expect(201, "POST", "/Trees-2", { n: 31 });
  await expect(201, "POST", "/new", {});
}

/** Stops the service, and checks that its store is sound. */
async function requireSound(t: TestContext, service: RunningService, cwd: string, release: Release) {
  const { exitCode, stderr } = await stop(service);
  assert.equal(exitCode, 0, stderr);
  const checked = await run(t, ["check"], { cwd });
  assert.equal(checked.exitCode, 0, checked.stderr);
  assert.match(checked.stdout, /^everything fits$/m);
  if (release.kind === "postgres") return;
  const database = new DatabaseSync(join(cwd, "store.db"), { readOnly: true });
  assert.deepEqual({ ...database.prepare("pragma integrity_check").get() }, { integrity_check: "ok" });
  database.close();
}

for (const release of releases) {
  const { name, contents } = release;
  describe(`the store ${name}`, () => {
    test("opens with all its content, and takes new writes", async (t) => {
      const { cwd } = await lay(t, release);
      const service = await serve(t, [], { cwd });
      const ask = askAt(service.base, contents.key);
      // A service of a later version may build the search words again.
      await until("searches work", async () => {
        const lists = await Promise.all(contents.lists.map((path) => ask("GET", path)));
        return lists.every(({ status }) => status !== 503);
      });
      const found = JSON.parse(JSON.stringify(await look(ask, contents)));
      // A later release can return more about a change.
      assert.partialDeepStrictEqual(found, contents.found);
      await requireReplayed(ask, contents);
      assert.deepEqual(JSON.parse(JSON.stringify(await look(ask, contents))), found, "replays write nothing");
      await goOn(ask, contents);
      await requireSound(t, service, cwd, release);
    });

    test("fits its configuration without changes", async (t) => {
      const { cwd } = await lay(t, release);
      const { exitCode, stdout, stderr } = await run(t, ["check"], { cwd });
      assert.equal(exitCode, 0, stderr);
      assert.match(stdout, /^everything fits$/m);
    });
  });
}
