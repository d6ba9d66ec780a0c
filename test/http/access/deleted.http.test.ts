/** Deleted resources and rules: what a caller could not list, read or restore stays unknown. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { owner } from "../../../src/access/access-declaration.ts";
import { startServiceForFile } from "../service.ts";
import { auth, type Caller, callers, createAs, outcome, sendAs, sendWith } from "./callers.ts";

const service = await startServiceForFile({
  auth,
  collections: {
    articles: {
      schema: {
        type: "object",
        properties: { title: { type: "string" }, authorId: { type: "string" }, salary: { type: "integer" } },
      },
      attributes: { salary: { roles: ["hr"] } },
      access: { read: "authenticated", write: [owner("authorId"), { role: "hr" }] },
    },
    notes: { access: { read: owner("authorId"), write: "authenticated" } },
    shared: {
      access: { read: "authenticated", create: "authenticated", delete: owner("authorId") },
    },
    kept: { access: { read: "authenticated", create: "authenticated", delete: { role: "hr" } } },
  },
});

interface Deleted {
  id: string;
  salary?: number;
  _deleted: { by?: string };
}

const list = async (who: Caller, collection: string, query = "") => {
  const answer = await sendAs(service, who, { path: `/api/v1/${collection}/_deleted${query}` });
  assert.equal(answer.status, 200, answer.text);
  return answer.json as Deleted[];
};
const restore = (who: Caller | undefined, collection: string, content: object = { all: true, max: 99 }) =>
  sendAs(service, who, { method: "POST", path: `/api/v1/${collection}/_deleted/_restore`, content });
const made = async (who: Caller, collection: string, content: Record<string, unknown>) => {
  const { path, body } = await createAs(service, who, collection, content);
  const gone = await sendAs(service, "hans", { method: "DELETE", path });
  assert.equal(gone.status, 205, gone.text);
  return body.id;
};

describe("deleted resources", () => {
  test("are those that the caller could list, without attributes that are hidden", async () => {
    const one = await made("hans", "articles", { title: "A", authorId: "ada", salary: 5 });
    assert.deepEqual(
      (await list("ada", "articles")).map(({ id, salary }) => [id, salary]),
      [[one, undefined]],
    );
    assert.deepEqual(
      (await list("hans", "articles")).map(({ salary }) => salary),
      [5],
    );
    const hidden = await sendAs(service, "ada", { path: "/api/v1/articles/_deleted?salary=5" });
    const absent = await sendAs(service, "ada", { path: "/api/v1/articles/_deleted?wages=5" });
    assert.deepEqual([outcome(hidden), outcome(absent)], ["400 INVALID_PARAMETER", "400 INVALID_PARAMETER"]);
    assert.equal(hidden.text.replaceAll("salary", "wages").length, absent.text.length);
    const note = await createAs(service, "ada", "notes", { authorId: "ada" });
    assert.equal((await sendAs(service, "ada", { method: "DELETE", path: note.path })).status, 205);
    assert.deepEqual(
      (await list("ada", "notes")).map(({ id }) => id),
      [note.body.id],
    );
    assert.deepEqual(await list("hans", "notes"), []);
    const nobody = await sendAs(service, undefined, { path: "/api/v1/notes/_deleted" });
    assert.equal(outcome(nobody), "401 UNAUTHENTICATED");
  });

  test("say who deleted them only to callers who can update every resource", async () => {
    assert.deepEqual(
      (await list("hans", "articles")).map(({ _deleted }) => _deleted.by),
      ["hans"],
    );
    assert.deepEqual((await list("hans", "articles", "?_deleted.by:eq=hans")).length, 1);
    assert.deepEqual(
      (await list("ada", "articles")).map(({ _deleted }) => _deleted.by),
      [undefined],
    );
    for (const query of ["?_deleted.by:eq=hans", "?sort=_deleted.by"]) {
      const answer = await sendAs(service, "ada", { path: `/api/v1/articles/_deleted${query}` });
      assert.equal(outcome(answer), "400 INVALID_PARAMETER");
    }
  });

  test("are restored by callers who could delete and create each of them", async () => {
    const other = await made("hans", "articles", { title: "B", authorId: "bob" });
    const refused = await restore("ada", "articles");
    assert.equal(outcome(refused), "403 INSUFFICIENT_SCOPE");
    assert.match(String((refused.json as { resource?: string }).resource), new RegExp(String(other)));
    const own = await restore("ada", "articles", { filter: { authorId: "ada" }, max: 9 });
    assert.equal((own.json as { changed: number }).changed, 1, own.text);
    const kept = await sendAs(service, "hans", { path: "/api/v1/articles?authorId=ada" });
    assert.deepEqual(
      (kept.json as Deleted[]).map(({ salary }) => salary),
      [5],
    );
    assert.equal(outcome(await restore("hans", "notes")), "200");
    assert.deepEqual((await list("ada", "notes")).length, 1);
  });

  test("are restored only by callers who have the right to delete, also if there is nothing to restore", async () => {
    const bobs = await createAs(service, "bob", "shared", { authorId: "bob" });
    assert.equal((await sendAs(service, "bob", { method: "DELETE", path: bobs.path })).status, 205);
    assert.equal(outcome(await restore("ada", "shared")), "403 INSUFFICIENT_SCOPE");
    assert.equal(outcome(await restore("bob", "shared")), "200");
    await made("ada", "kept", {});
    const none = { filter: { n: 1 }, max: 1 };
    assert.equal(outcome(await restore("ada", "kept", none)), "403 INSUFFICIENT_SCOPE");
    assert.equal(outcome(await restore("ada", "kept")), "403 INSUFFICIENT_SCOPE");
    assert.equal(outcome(await restore(undefined, "kept")), "401 UNAUTHENTICATED");
  });
});

test("a retry of a restore by the same subject without its role has no body", async () => {
  const content = { filter: { title: "nothing has this title" }, max: 9 };
  const headers = { "Idempotency-Key": '"restored by others"' };
  const request = { method: "POST", path: "/api/v1/articles/_deleted/_restore", content, headers };
  assert.equal(outcome(await sendWith(service, callers.hans, request)), "200");
  const again = await sendWith(service, { sub: "hans" }, request);
  assert.deepEqual([again.status, again.text], [204, ""]);
  assert.equal(again.headers["idempotent-replayed"], "true");
});
