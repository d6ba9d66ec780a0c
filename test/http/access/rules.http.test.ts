import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { owner } from "../../../src/access/access-declaration.ts";
import { startServiceForFile } from "../service.ts";
import { auth, type Caller, createAs, outcome, sendAs, sendWith } from "./callers.ts";

const service = await startServiceForFile({
  auth,
  collections: {
    articles: {
      schema: {
        type: "object",
        properties: {
          title: { type: "string", maxLength: 100 },
          authorId: { type: "string" },
          topicId: { type: "string" },
          relatedIds: { type: "array", items: { type: "string" } },
        },
      },
      unique: ["title"],
      search: ["title"],
      defaults: { authorId: "nobody" },
      references: { topicId: "topics", relatedIds: "topics" },
      access: {
        read: [owner("authorId"), { role: "editor" }],
        write: [owner("authorId"), { role: "editor" }],
      },
    },
    topics: { access: { read: owner("authorId"), write: "authenticated" } },
    counted: { id: "integer", access: { read: owner("authorId"), write: "authenticated" } },
    uses: {
      schema: { properties: { countedId: { type: "integer" }, secretId: { type: "integer" } } },
      references: { countedId: "counted", secretId: "counted" },
      attributes: { secretId: { roles: ["editor"] } },
    },
    drafts: { access: { read: "authenticated", write: owner("authorId") } },
    gated: {
      schema: {
        type: "object",
        properties: { state: { type: "string" }, level: { type: "integer" }, secret: { type: "string" } },
      },
      attributes: { secret: { roles: ["editor"] } },
      access: {
        read: "public",
        create: { where: { state: "open" } },
        update: { where: { state: "open", level: { lt: 5 }, secret: { exists: false } } },
        delete: { where: { secret: "$subject" } },
      },
    },
    ours: { access: { read: { where: { tenant: "$claims.tenant" } }, write: "authenticated" } },
    forms: { access: { create: "public", read: { role: "editor" } } },
  },
});

const path = "/api/v1/articles";

let titles = 0;
const newTitle = () => `title${++titles}`;

const articleOf = (authorId: Caller) =>
  createAs(service, authorId, "articles", { title: newTitle(), authorId });

test("a refusal names the resource, and what the rule compares, as far as the caller sees it", async () => {
  const detail = async (who: Caller, request: Parameters<typeof sendAs>[2]) => {
    const { status, json } = await sendAs(service, who, request);
    assert.equal(status, 403);
    return (json as { detail: string }).detail;
  };
  const draft = await createAs(service, "ada", "drafts", { authorId: "ada" });
  const patch = { method: "PATCH", path: draft.path, content: { title: "b" } };
  const subject = (who: string) => `The attribute "authorId" must be your subject, "${who}".`;
  assert.equal(
    await detail("bob", patch),
    `The credential does not permit the action "update" with this resource in the collection "drafts". ${subject("bob")}`,
  );
  assert.equal(
    await detail("bob", { method: "DELETE", path: draft.path }),
    `The credential does not permit the action "delete" with this resource in the collection "drafts". ${subject("bob")}`,
  );
  assert.equal(
    await detail("ada", { ...patch, content: { authorId: "bob" } }),
    `The credential does not permit the action "update" with the new attributes of this resource in the collection "drafts". ${subject("ada")}`,
  );
  assert.equal(
    await detail("bob", { method: "POST", path: "/api/v1/drafts", content: { authorId: "ada" } }),
    `The credential does not permit the action "create" with these attributes in the collection "drafts". ${subject("bob")}`,
  );
  const gated = await createAs(service, "ada", "gated", { state: "open", level: 7 });
  const change = { method: "PATCH", path: gated.path, content: { level: 1 } };
  const refused =
    'The credential does not permit the action "update" with this resource in the collection "gated".';
  assert.equal(await detail("ada", change), `${refused} The rule depends on "state" and "level".`);
  assert.equal(await detail("eve", change), `${refused} The rule depends on "state", "level" and "secret".`);
  // Nothing about an attribute that the caller does not see.
  assert.equal(
    await detail("ada", { method: "DELETE", path: gated.path }),
    'The credential does not permit the action "delete" with this resource in the collection "gated".',
  );
  assert.equal(
    await detail("adaReads", { method: "DELETE", path: draft.path }),
    'The credential does not permit the action "delete" in the collection "drafts".',
  );
});

describe("a resource that somebody may not read", () => {
  test("is not there for any method, with or without what is behind its path", async () => {
    const { id, path: target, body } = await articleOf("ada");
    const patch = { "Content-Type": "application/json" };
    for (const request of [
      { path: target },
      { method: "HEAD", path: target },
      { path: `${target}?version=1` },
      { path: `${target}?at=2100-01-01` },
      { path: `${target}/_changes` },
      { method: "POST", path: `${target}/_restore`, content: { version: 1 } },
      { method: "PUT", path: target, content: { id, title: "mine" } },
      { method: "PATCH", path: target, content: { title: "mine" }, headers: patch },
      { method: "DELETE", path: target },
      { method: "DELETE", path: target, headers: { "If-Match": '"7"' } },
      { method: "PATCH", path: target, body: "{", headers: patch },
    ]) {
      const answer = await sendAs(service, "bob", request);
      const nothing = await sendAs(service, "bob", { ...request, path: request.path.replace(id, "none") });
      assert.equal(answer.status, 404, `${request.method} ${request.path}`);
      const { date: _, "x-request-id": __, ...headers } = answer.headers;
      const { date: ___, "x-request-id": ____, ...others } = nothing.headers;
      assert.deepEqual([headers, answer.text], [others, nothing.text]);
    }
    assert.deepEqual((await sendAs(service, "ada", { path: target })).json, body);
  });

  test("is in no list, search, table, envelope or total", async () => {
    const { id, body } = await articleOf("ada");
    const own = await articleOf("bob");
    for (const query of [
      "",
      `?title=${body.title}`,
      `?q=${body.title}`,
      `?id=${id}`,
      "?sort=-title&limit=1000",
    ]) {
      const { json } = await sendAs(service, "bob", { path: path + query });
      assert.ok(Array.isArray(json));
      assert.ok(
        json.every(({ authorId }) => authorId === "bob"),
        query,
      );
    }
    const table = await sendAs(service, "bob", { path, headers: { Accept: "text/csv" } });
    assert.ok(table.text.includes(own.id) && !table.text.includes(id));
    const lines = await sendAs(service, "bob", { path, headers: { Accept: "application/x-ndjson" } });
    assert.ok(lines.text.includes(own.id) && !lines.text.includes(id));
    const found = await sendAs(service, "bob", {
      method: "QUERY",
      path,
      content: { filter: { id }, count: "exact" },
    });
    assert.deepEqual([found.json, found.headers["x-total-count"]], [[], "0"]);
    const { total } = (await sendAs(service, "bob", { path: `${path}?envelope=true&count=exact` })).json as {
      total: number;
    };
    const all = (await sendAs(service, "bob", { path: `${path}?limit=1000` })).json as unknown[];
    assert.equal(total, all.length);
  });

  test("is in no page that was kept for somebody who may", async () => {
    const { id } = await articleOf("ada");
    for (const query of ["?limit=1000", "?limit=1000&sort=title", `?id=${id}`]) {
      for (const who of ["eve", "ada", "bob", "eve", "bob"] as const) {
        const { text } = await sendAs(service, who, { path: path + query });
        assert.equal(text.includes(id), who !== "bob", `${who} ${query}`);
      }
    }
  });

  test("changes no ETag of a list", async () => {
    await articleOf("bob");
    const first = await sendAs(service, "bob", { path });
    const headers = { "If-None-Match": String(first.headers.etag) };
    await articleOf("ada");
    assert.equal((await sendAs(service, "bob", { path, headers })).status, 304);
    await articleOf("bob");
    assert.equal((await sendAs(service, "bob", { path, headers })).status, 200);
    assert.equal((await sendAs(service, "eve", { path, headers })).status, 200);
  });

  test("is not told of by an entity tag of the collection that a create names", async () => {
    const headers = { "If-Match": '"x"' };
    const content = { authorId: "bob" };
    const told = async () => {
      const answer = await sendAs(service, "bob", { method: "POST", path, content, headers });
      assert.equal(answer.status, 412);
      return answer.headers.etag;
    };
    const before = await told();
    await articleOf("ada");
    assert.equal(await told(), before);
  });

  test("is not told of by a value that must be unique: not which it is, nor whose", async () => {
    const { id, body } = await articleOf("ada");
    const content = { title: body.title, authorId: "bob" };
    const { status, json } = await sendAs(service, "bob", { method: "POST", path, content });
    assert.equal(status, 409);
    const { instance: _, ...told } = json as Record<string, unknown>; // a random one can contain "ada"
    const text = JSON.stringify(told);
    assert.ok(!text.includes(id) && !text.includes("ada"));
  });

  test("cannot be referred to, with the answer to an id that leads nowhere", async () => {
    const hidden = await createAs(service, "ada", "topics", { authorId: "ada" });
    const own = await createAs(service, "bob", "topics", { authorId: "bob" });
    const problemOf = async (content: Record<string, unknown>, id: string) => {
      const answer = await sendAs(service, "bob", {
        method: "POST",
        path,
        content: { authorId: "bob", ...content },
      });
      assert.equal(answer.status, 400, answer.text);
      return answer.text.replaceAll(id, "").replace(/urn:uuid:[0-9a-f-]+/, "");
    };
    for (const content of [
      (topicId: string) => ({ topicId }),
      (topicId: string) => ({ relatedIds: [own.id, topicId] }),
      (topicId: string) => ({ relatedIds: [topicId, "nowhere"] }),
      (topicId: string) => ({ topicId, relatedIds: ["nowhere"] }),
    ]) {
      const expected = await problemOf(content("nowhere"), "nowhere");
      assert.equal(await problemOf(content(hidden.id), hidden.id), expected);
    }
    const fine = await createAs(service, "bob", "articles", { authorId: "bob", topicId: own.id });
    const patched = await sendAs(service, "bob", {
      method: "PATCH",
      path: fine.path,
      content: { topicId: hidden.id },
    });
    assert.equal(outcome(patched), "400 REFERENCE_NOT_FOUND");
    const operations = [{ method: "PATCH", path: `/articles/${fine.id}`, body: { topicId: hidden.id } }];
    const batch = await sendAs(service, "bob", {
      method: "POST",
      path: "/api/v1/_batch",
      content: { operations },
    });
    assert.equal(outcome(batch), "400 REFERENCE_NOT_FOUND");
    assert.equal((batch.json as { operation: number }).operation, 0);
  });

  test("cannot be referred to by a number either", async () => {
    const hidden = await createAs(service, "ada", "counted", { authorId: "ada" });
    const own = await createAs(service, "bob", "counted", { authorId: "bob" });
    const refer = (id: number) =>
      sendAs(service, "bob", { method: "POST", path: "/api/v1/uses", content: { countedId: id } });
    assert.equal((await refer(Number(own.id))).status, 201);
    const [there, nowhere] = [await refer(Number(hidden.id)), await refer(1_000_000)];
    const text = ({ text }: { text: string }) => text.replace(/urn:uuid:[0-9a-f-]+/, "");
    assert.deepEqual([there.status, text(there)], [nowhere.status, text(nowhere)]);
  });

  test("cannot be referred to either where an attribute that is not for the caller does so", async () => {
    const hidden = await createAs(service, "eve", "counted", { authorId: "eve" });
    const { path: target } = await createAs(service, "eve", "uses", { secretId: Number(hidden.id) });
    const content = { countedId: Number(hidden.id) };
    const refer = await sendAs(service, "bob", { method: "PATCH", path: target, content });
    assert.equal(outcome(refer), "400 REFERENCE_NOT_FOUND");
  });

  test("may stay referred to by what somebody may change otherwise", async () => {
    const hidden = await createAs(service, "ada", "topics", { authorId: "ada" });
    const { path: target } = await createAs(service, "ada", "articles", {
      authorId: "ada",
      topicId: hidden.id,
    });
    const handOver = await sendAs(service, "eve", {
      method: "PATCH",
      path: target,
      content: { authorId: "bob" },
    });
    assert.equal(handOver.status, 200);
    const patched = await sendAs(service, "bob", {
      method: "PATCH",
      path: target,
      content: { title: newTitle() },
    });
    assert.equal(patched.status, 200, patched.text);
  });
});

describe("what somebody may read, and not write", () => {
  test("is refused with 403 for every write, whatever its preconditions and content", async () => {
    const { id, path: target } = await createAs(service, "ada", "drafts", { authorId: "ada" });
    for (const request of [
      { method: "PUT", path: target, content: { id } },
      { method: "PUT", path: target, content: { id }, headers: { "If-Match": '"7"' } },
      { method: "PATCH", path: target, content: { authorId: "bob" } },
      { method: "PATCH", path: target, body: "{", headers: { "Content-Type": "application/json" } },
      { method: "DELETE", path: target },
      { method: "POST", path: `${target}/_restore`, content: { version: 1 } },
    ]) {
      const answer = await sendAs(service, "bob", request);
      assert.equal(outcome(answer), "403 INSUFFICIENT_SCOPE", `${request.method} ${request.path}`);
      assert.equal(
        answer.headers["www-authenticate"],
        'Bearer error="insufficient_scope", scope="drafts:write"',
      );
    }
    assert.equal((await sendAs(service, "bob", { path: target })).headers.etag, '"1"');
  });

  test("does not become somebody's by a write: not by a create, a change, or a batch", async () => {
    const { path: target } = await createAs(service, "bob", "drafts", { authorId: "bob" });
    const change = { method: "PATCH", path: target, content: { authorId: "ada" } };
    assert.equal(outcome(await sendAs(service, "bob", change)), "403 INSUFFICIENT_SCOPE");
    const create = { method: "POST", path: "/api/v1/drafts", content: { authorId: "ada" } };
    assert.equal(outcome(await sendAs(service, "bob", create)), "403 INSUFFICIENT_SCOPE");
    const operations = [
      { method: "POST", path: "/drafts", body: { authorId: "bob" } },
      { method: "POST", path: "/drafts", body: { authorId: "ada" } },
    ];
    const batch = await sendAs(service, "bob", {
      method: "POST",
      path: "/api/v1/_batch",
      content: { operations },
    });
    assert.equal(outcome(batch), "403 INSUFFICIENT_SCOPE");
    assert.equal((batch.json as { operation: number }).operation, 1);
  });

  test("is judged with its defaults", async () => {
    const create = { method: "POST", path, content: { title: newTitle() } };
    assert.equal(outcome(await sendAs(service, "bob", create)), "403 INSUFFICIENT_SCOPE");
    assert.equal((await sendAs(service, "eve", create)).status, 201);
  });

  test("in a batch, an operation on what is not there for the caller is as one on nothing", async () => {
    const { id } = await articleOf("ada");
    const answers = [];
    for (const name of [id, "none"]) {
      const operations = [{ method: "DELETE", path: `/articles/${name}` }];
      const answer = await sendAs(service, "bob", {
        method: "POST",
        path: "/api/v1/_batch",
        content: { operations },
      });
      answers.push(answer.text.replaceAll(name, "").replace(/urn:uuid:[0-9a-f-]+/, ""));
    }
    assert.equal(answers[0], answers[1]);
  });
});

describe("history", () => {
  test("of what somebody may read shows no version that they may not", async () => {
    const { path: target } = await articleOf("ada");
    await sendAs(service, "eve", { method: "PATCH", path: target, content: { authorId: "bob" } });
    assert.equal((await sendAs(service, "bob", { path: target })).status, 200);
    assert.equal((await sendAs(service, "bob", { path: `${target}?version=1` })).status, 404);
    assert.equal((await sendAs(service, "bob", { path: `${target}?version=2` })).status, 200);
    assert.equal((await sendAs(service, "ada", { path: `${target}?version=1` })).status, 404);
    const restore = { method: "POST", path: `${target}/_restore`, content: { version: 1 } };
    assert.equal((await sendAs(service, "bob", restore)).status, 404);
    assert.equal((await sendAs(service, "eve", restore)).status, 200);
  });

  test("of what is deleted is for those who could read it last, who may bring it back if they may create it", async () => {
    const { path: target } = await articleOf("ada");
    await sendAs(service, "ada", { method: "DELETE", path: target });
    const restore = { method: "POST", path: `${target}/_restore`, content: { version: 1 } };
    assert.equal((await sendAs(service, "bob", { path: `${target}/_changes` })).status, 404);
    assert.equal((await sendAs(service, "bob", { path: `${target}?version=1` })).status, 404);
    assert.equal((await sendAs(service, "bob", restore)).status, 404);
    assert.equal((await sendAs(service, "ada", { path: `${target}/_changes` })).status, 200);
    assert.equal((await sendAs(service, "ada", restore)).status, 201);
  });
});

describe("what somebody writes and may not read", () => {
  test("is not told by a kept answer: another does not get it, and a narrower credential gets no content", async () => {
    const headers = { "Idempotency-Key": '"kept"' };
    const create = { method: "POST", path, headers, content: { title: newTitle(), authorId: "ada" } };
    const first = await sendAs(service, "ada", create);
    assert.equal(first.status, 201);
    const again = await sendAs(service, "ada", create);
    assert.deepEqual(
      [again.status, again.text, again.headers["idempotent-replayed"]],
      [201, first.text, "true"],
    );
    const narrow = await sendAs(service, "adaWrites", create);
    assert.deepEqual(
      [narrow.status, narrow.text, narrow.headers.location],
      [201, "", first.headers.location],
    );
    assert.equal(outcome(await sendAs(service, "adaReads", create)), "403 INSUFFICIENT_SCOPE");
    assert.equal(outcome(await sendAs(service, "bob", create)), "403 INSUFFICIENT_SCOPE");
  });
});

test("a kept answer is without content once its caller may be told other things, whatever of the caller that comes from", async () => {
  const headers = { "Idempotency-Key": '"moved"' };
  const create = { method: "POST", path: "/api/v1/ours", headers, content: { tenant: "acme" } };
  const first = await sendWith(service, { sub: "kim", tenant: "acme" }, create);
  assert.equal(first.status, 201, first.text);
  const later = { sub: "kim", tenant: "acme", jti: "2", roles: ["reader"] };
  assert.equal((await sendWith(service, later, create)).text, first.text);
  const moved = await sendWith(service, { sub: "kim", tenant: "other" }, create);
  assert.deepEqual([moved.status, moved.text, moved.headers["idempotent-replayed"]], [201, "", "true"]);
});

test("of writes at once none is by whom the resource did not belong to any more", async () => {
  const { path: target } = await articleOf("ada");
  const give = { method: "PATCH", path: target, content: { authorId: "bob" } };
  const writes = Array.from({ length: 30 }, (_, n) =>
    n === 10
      ? sendAs(service, "eve", give)
      : sendAs(service, "ada", { method: "PATCH", path: target, content: { title: newTitle() } }),
  );
  const statuses = (await Promise.all(writes)).map(({ status }) => status);
  assert.ok(statuses.includes(200) && statuses.includes(404), statuses.join());
  const { json } = await sendAs(service, "eve", { path: `${target}/_changes` });
  const principals = (json as { principal: string }[]).map(({ principal }) => principal);
  assert.equal(principals[0], "eve", "the last change is that which gave it away");
});
