import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { auth, type Caller, sendAs } from "./access/callers.ts";
import { check } from "./check.ts";
import { type Answer, startFor } from "./service.ts";

const prefix = "/api/v1";

describe("the hint about a misspelled collection", () => {
  const hintOf = ({ headers }: Answer) => headers["holdfast-hint"];
  const meant = (name: string) => `did you mean "${name}"?`;

  test("is a header of the empty 404, for each method and each path in the collection", async (t) => {
    const service = await startFor(t, { collections: { issues: {}, users: {} } });
    for (const path of ["isues", "isues/", "isues/1", "isues/1/_changes", "Issues?limit=1", "isues/_bulk"])
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "QUERY"]) {
        const answer = await service.send({ method, path: `${prefix}/${path}` });
        check(answer, { status: 404, headers: { "Holdfast-Hint": meant("issues") } });
        assert.equal(answer.text, "");
      }
    for (const path of ["topics", "is%20ues", `${"issues".repeat(20)}`, "_issues", "issues/1", "users"])
      assert.equal(hintOf(await service.send({ path: `${prefix}/${path}` })), undefined, path);
    const preflight = await service.send({ method: "OPTIONS", path: `${prefix}/isues` });
    assert.deepEqual([preflight.status, hintOf(preflight)], [404, undefined]);
  });

  test("names only what the caller can list", async (t) => {
    const service = await startFor(t, {
      auth,
      collections: {
        issues: { access: { read: { role: "hr" } } },
        tissues: { access: { read: "public" } },
        salaries: { access: { read: { role: "hr" }, create: "public" } },
      },
    });
    const hintFor = async (who: Caller | undefined, name: string) => {
      const answer = await sendAs(service, who, { path: `${prefix}/${name}` });
      assert.deepEqual([answer.status, answer.text], [404, ""]);
      return hintOf(answer);
    };
    for (const who of [undefined, "ada", "bad", "expired"] as const)
      assert.equal(await hintFor(who, "salarys"), undefined);
    assert.equal(await hintFor("hans", "salarys"), meant("salaries"));
    for (const who of [undefined, "ada"] as const)
      assert.equal(await hintFor(who, "isues"), meant("tissues"));
    assert.equal(await hintFor("hans", "isues"), meant("issues"));
  });

  test("is also a header of an empty list of a collection that does not exist yet", async (t) => {
    const service = await startFor(t);
    const { path } = await service.create("issues");
    assert.equal((await service.send({ method: "DELETE", path })).status, 205);
    const list = await service.send({ path: `${prefix}/isues` });
    check(list, { status: 200, headers: { "Holdfast-Hint": meant("issues") }, json: [] });
    const read = await service.send({ path: `${prefix}/isues/1` });
    check(read, { status: 404, headers: { "Holdfast-Hint": meant("issues") } });
    for (const path of ["issues", "issues/1", "topics"])
      assert.equal(hintOf(await service.send({ path: `${prefix}/${path}` })), undefined, path);
    await service.create("isues");
    for (const path of ["isues", "isues/1", "isues?limit=1&x=1"])
      assert.equal(hintOf(await service.send({ path: `${prefix}/${path}` })), undefined, path);
  });
});
