/** Bulk changes and rules: what a caller cannot list, read or set stays unknown. The numbers are in `matrix.test.ts`. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { owner } from "../../../src/access/access-declaration.ts";
import { type Answer, startServiceForFile } from "../service.ts";
import { auth, type Caller, callers, createAs, outcome, sendAs, sendWith } from "./callers.ts";

const service = await startServiceForFile({
  auth,
  collections: {
    articles: {
      schema: {
        type: "object",
        properties: {
          title: { type: "string" },
          authorId: { type: "string" },
          views: { type: "integer" },
          pin: { type: "integer", writeOnly: true },
          salary: { type: "integer" },
          teamId: { type: "string" },
        },
      },
      attributes: { salary: { roles: ["hr"] } },
      access: { read: "authenticated", write: [owner("authorId"), { role: "hr" }] },
      references: { teamId: "teams" },
    },
    teams: { access: { read: { where: { members: "$subject" } }, write: "authenticated" } },
    notes: { access: { read: owner("authorId"), write: "authenticated" } },
  },
});

const bulk = (who: Caller | undefined, content: unknown, collection = "articles"): Promise<Answer> =>
  sendAs(service, who, { method: "POST", path: `/api/v1/${collection}/_bulk`, content });

const article = (authorId: string, more: object = {}) =>
  createAs(service, "hans", "articles", { title: "A", authorId, ...more });

const told = (answer: Answer) => {
  const { status, code, detail, resource, violations } = {
    ...(answer.json as object),
    status: answer.status,
  } as Record<string, unknown>;
  return { status, code, detail, resource, violations };
};

describe("a bulk change", () => {
  test("needs the right to list and the right to change", async () => {
    const content = { all: true, patch: { views: 1 }, max: 1_000 };
    for (const [who, expected] of [
      [undefined, "401 UNAUTHENTICATED"],
      ["adaWrites", "403 INSUFFICIENT_SCOPE"],
      ["adaReads", "403 INSUFFICIENT_SCOPE"],
    ] as const) {
      const answer = await bulk(who, content);
      assert.equal(outcome(answer), expected);
      assert.equal((answer.json as { resource?: string }).resource, undefined);
    }
  });

  test("names the first resource that the caller cannot change, and changes none", async () => {
    const mine = await article("ada", { views: 100 });
    const other = await article("bob", { views: 101 });
    const content = { filter: { views: { gte: 100 } }, patch: { views: 0 }, max: 9 };
    const answer = await bulk("ada", content);
    assert.equal(outcome(answer), "403 INSUFFICIENT_SCOPE");
    assert.equal((answer.json as { resource: string }).resource, other.path);
    assert.match((await sendAs(service, "ada", { path: mine.path })).headers.etag ?? "", /^"1\b/);
  });

  test("judges the state after the change too", async () => {
    const { path } = await article("ada", { views: 200 });
    const content = { filter: { views: 200 }, patch: { authorId: "bob" }, max: 9 };
    const answer = await bulk("ada", content);
    assert.equal(outcome(answer), "403 INSUFFICIENT_SCOPE");
    assert.equal((answer.json as { resource: string }).resource, path);
    assert.equal(outcome(await bulk("hans", content)), "200");
  });

  test("does not select by attributes that are hidden", async () => {
    await article("ada", { salary: 5, pin: 6 });
    for (const name of ["salary", "pin"]) {
      const hidden = await bulk("ada", { filter: { [name]: 5 }, delete: true, max: 9 });
      const absent = await bulk("ada", { filter: { nothing: 5 }, delete: true, max: 9 });
      assert.equal(outcome(hidden), "400 INVALID_PARAMETER");
      const text = JSON.stringify(told(hidden)).replaceAll(name, "nothing");
      assert.equal(text, JSON.stringify(told(absent)));
    }
  });

  test("treats write-only and restricted attributes as a patch does", async () => {
    const { path } = await article("ada", { views: 300, salary: 5, pin: 6 });
    const change = (action: object) => bulk("ada", { filter: { views: 300 }, ...action, max: 9 });
    const counted = await change({ update: { pin: { $increment: 1 } } });
    assert.deepEqual([outcome(counted), told(counted).resource], ["400 VALIDATION_FAILED", path]);
    for (const action of [{ patch: { salary: 1 } }, { update: { salary: { $set: 1 } } }]) {
      const restricted = told(await change(action));
      const unknown = told(await change(JSON.parse(JSON.stringify(action).replace("salary", "galary"))));
      assert.deepEqual(JSON.parse(JSON.stringify(restricted).replaceAll("salary", "galary")), unknown);
    }
    const same = await change({ patch: { pin: 6 } });
    assert.equal(
      (same.json as { changed: number }).changed,
      1,
      "a new version, even if the value is the same",
    );
  });

  test("tells nothing of resources that the caller cannot list: not by numbers, filters, ids or dry runs", async () => {
    const mine = await createAs(service, "ada", "notes", { authorId: "ada", n: 1 });
    const theirs = await createAs(service, "bob", "notes", { authorId: "bob", n: 1 });
    const absent = `${theirs.id.slice(0, -4)}0000`;
    for (const dryRun of [true, false])
      for (const action of [{ patch: { n: 1 } }, { update: { n: { $increment: 0 } } }])
        for (const [selection, matched] of [
          [{ all: true }, 1],
          [{ filter: { n: 1 } }, 1],
          [{ filter: { id: { in: [mine.id, theirs.id] } } }, 1],
          [{ filter: { id: theirs.id } }, 0],
          [{ filter: { id: absent } }, 0],
          [{ filter: { not: { authorId: "ada" } } }, 0],
        ] as const) {
          const answer = await bulk("ada", { ...selection, ...action, max: 1, dryRun }, "notes");
          assert.deepEqual(answer.json, { matched, changed: 0, dryRun, ids: [] });
        }
    const second = await createAs(service, "ada", "notes", { authorId: "ada", n: 1 });
    for (const selection of [{ all: true }, { filter: { n: 1 } }]) {
      const many = await bulk("ada", { ...selection, delete: true, max: 1 }, "notes");
      assert.equal(outcome(many), "409 TOO_MANY_MATCHES");
      assert.equal((many.json as { matched: number }).matched, 2);
    }
    assert.equal(outcome(await sendAs(service, "ada", { method: "DELETE", path: second.path })), "205");
    const gone = await bulk("ada", { all: true, delete: true, max: 1 }, "notes");
    assert.deepEqual((gone.json as { ids: string[] }).ids, [mine.id]);
    assert.equal((await sendAs(service, "bob", { path: theirs.path })).status, 200);
  });

  test("selects by related resources only if the caller can list those", async () => {
    const teamOf = async (members: "ada" | "bob") =>
      (await createAs(service, members, "teams", { members, name: "red" })).id;
    const [mine, theirs] = [await teamOf("ada"), await teamOf("bob")];
    const seen = await createAs(service, "ada", "articles", { authorId: "ada", views: 500, teamId: mine });
    const unseen = await createAs(service, "bob", "articles", {
      authorId: "bob",
      views: 500,
      teamId: theirs,
    });
    await sendAs(service, "hans", { method: "PATCH", path: unseen.path, content: { authorId: "ada" } });
    const filter = { views: 500, "team.name": "red" };
    const changed = await bulk("ada", { filter, patch: { title: "B" }, max: 9 });
    assert.deepEqual(changed.json, { matched: 1, changed: 1, dryRun: false, ids: [seen.id] });
    const hidden = { views: 500, not: { "team.name": "red" } };
    const others = await bulk("ada", { filter: hidden, patch: { title: "B" }, max: 9, dryRun: true });
    assert.equal((others.json as { matched: number }).matched, 1);
  });

  test("refuses a reference to a hidden resource as one to an absent resource, also in a dry run", async () => {
    const { id } = await createAs(service, "bob", "teams", { members: "bob" });
    await article("ada", { views: 400 });
    const to = (teamId: string, dryRun: boolean) =>
      bulk("ada", { filter: { views: 400 }, patch: { teamId }, max: 9, dryRun });
    for (const dryRun of [true, false]) {
      const hidden = await to(id, dryRun);
      assert.equal(outcome(hidden), "400 REFERENCE_NOT_FOUND");
      assert.deepEqual(told(hidden), told(await to(`${id.slice(0, -4)}0000`, dryRun)));
    }
  });
});

test("a retry by the same subject without its role has no body", async () => {
  await article("hans", { views: 700 });
  const content = { filter: { views: 700 }, patch: { title: "B" }, max: 9 };
  const headers = { "Idempotency-Key": '"seen by others"' };
  const request = { method: "POST", path: "/api/v1/articles/_bulk", content, headers };
  assert.equal(outcome(await sendWith(service, callers.hans, request)), "200");
  const again = await sendWith(service, { sub: "hans" }, request);
  assert.deepEqual([again.status, again.text], [204, ""]);
  assert.equal(again.headers["idempotent-replayed"], "true");
});
