/** The parameters `_embed` and `_expand` of json-server, and what the service says about relations that nobody declared. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { auth, type Caller, sendAs } from "./access/callers.ts";
import { check } from "./check.ts";
import { linkOf } from "./follow.ts";
import { startFor } from "./service.ts";

const text = { type: "string" } as const;
const posts = { id: "integer", schema: { type: "object", properties: { title: text } } } as const;
const comments = {
  id: "integer",
  schema: { type: "object", properties: { body: text, postId: { type: "integer" } } },
  references: { postId: { collection: "posts", as: "post", inverse: "comments" } },
} as const;

type Json = Record<string, unknown>;

describe("_embed and _expand", () => {
  test("are embed: for children, for parents, for both, in lists and in one resource", async (t) => {
    const service = await startFor(t, { collections: { posts, comments } });
    const read = async (path: string) =>
      JSON.parse((await service.send({ path: `/api/v1/${path}` })).text) as Json & Json[];
    await service.create("posts", { title: "a" });
    await service.create("comments", { body: "b", postId: 1 });
    const post = { id: 1, title: "a" };
    const comment = { id: 1, body: "b", postId: 1 };
    assert.deepEqual(await read("posts?_embed=comments"), [{ ...post, comments: [comment] }]);
    assert.deepEqual(await read("posts/1?_embed=comments"), { ...post, comments: [comment] });
    for (const name of ["_expand", "_embed"]) {
      assert.deepEqual(await read(`comments?${name}=post`), [{ ...comment, post }]);
      assert.deepEqual(await read(`comments/1?${name}=post`), { ...comment, post });
    }
    assert.deepEqual(await read("posts/1/comments?_expand=post"), [{ ...comment, post }]);
    assert.deepEqual(await read("comments?_expand=post&_embed=post.comments"), [
      { ...comment, post: { ...post, comments: [comment] } },
    ]);
  });

  test("are given together and several times, but name each relation once", async (t) => {
    const likes = {
      ...comments,
      references: { postId: { collection: "posts", as: "post", inverse: "likes" } },
    } as const;
    const service = await startFor(t, { collections: { posts, comments, likes } });
    await service.create("posts", { title: "a" });
    const get = (query: string) => service.send({ path: `/api/v1/posts?${query}` });
    const both = [{ id: 1, title: "a", comments: [], likes: [] }];
    for (const query of [
      "_embed=comments,likes",
      "_embed=comments&_embed=likes",
      "embed=comments&_embed=likes",
      "_embed=comments&_expand=likes",
    ])
      check(await get(query), { status: 200, json: both });
    check(await get("embed=comments&_embed=likes,comments"), {
      status: 400,
      problem: "INVALID_PARAMETER",
      violations: [{ in: "query", name: "_embed" }],
    });
  });

  test("bring up to 100 related resources, with a link to the next ones", async (t) => {
    const service = await startFor(t, { collections: { posts, comments } });
    await service.create("posts", { title: "a" });
    await service.create("posts", { title: "b" });
    const operations = Array.from({ length: 100 }, () => ({
      method: "POST",
      path: "/comments",
      body: { postId: 1 },
    }));
    check(await service.send({ method: "POST", path: "/api/v1/_batch", content: { operations } }), {
      status: 200,
    });
    await service.create("comments", { postId: 1 });
    const list = JSON.parse((await service.send({ path: "/api/v1/posts?_embed=comments" })).text) as Json[];
    assert.deepEqual(
      list.map(({ comments }) => (comments as Json[]).length),
      [100, 0],
    );
    const { comments: next } = (list[0] as Json)._next as Json;
    const rest = JSON.parse((await service.send({ path: String(next) })).text) as Json[];
    assert.deepEqual(
      rest.map(({ id }) => id),
      [101],
    );
    const usual = JSON.parse((await service.send({ path: "/api/v1/posts/1?embed=comments" })).text) as Json;
    assert.equal((usual.comments as Json[]).length, 5);
  });

  test("stay unknown names where the schema declares an attribute with the name", async (t) => {
    const properties = { _embed: text, postId: { type: "integer" } } as const;
    const odd = { ...comments, schema: { type: "object", properties } } as const;
    const service = await startFor(t, { collections: { posts, comments: odd } });
    await service.create("posts", { title: "a" });
    await service.create("comments", { _embed: "x", postId: 1 });
    const get = (query: string) => service.send({ path: `/api/v1/comments?${query}` });
    const refused = await get("_embed=post");
    check(refused, { status: 400, problem: "INVALID_PARAMETER" });
    assert.match(refused.text, /write \\"_embed:eq\\"/);
    check(await get("_embed:eq=x"), { status: 200, json: [{ id: 1, _embed: "x", postId: 1 }] });
    check(await get("_expand=post&fields=post.title"), {
      status: 200,
      json: [{ id: 1, post: { id: 1, title: "a" } }],
    });
  });

  test("are refused where embed is, and leave no trace in the link to the events", async (t) => {
    const service = await startFor(t, { collections: { posts, comments } });
    await service.create("posts", { title: "a" });
    for (const name of ["embed", "_embed", "_expand"]) {
      for (const path of [
        `posts/_events?${name}=comments`,
        `posts/_deleted?${name}=comments`,
        `posts?aggregate=count&${name}=comments`,
        `posts?at=2030-01-01&${name}=comments`,
        `posts/1?version=1&${name}=comments`,
      ])
        check(await service.send({ path: `/api/v1/${path}` }), {
          status: 400,
          problem: "INVALID_PARAMETER",
        });
      const list = await service.send({ path: `/api/v1/posts?${name}=comments&title=a` });
      assert.match(linkOf(list, "monitor") ?? "", /\/posts\/_events\?title=a&since=/);
    }
  });
});

describe("a relation that nobody declared", () => {
  const declaration = (name: string) =>
    `"${name}" is not a relation of "posts". The collection has no relations. To declare this one, give "${name}" the option "references", such as "references": {"postId":{"collection":"posts","as":"post","inverse":"${name}"}}`;

  test("gets a 400 in _embed that says what to declare, with and without a configuration", async (t) => {
    for (const options of [{}, { collections: { posts } }]) {
      const service = await startFor(t, options);
      await service.create("posts", { title: "a" });
      for (const path of ["posts?_embed=comments", "posts/1?_embed=comments", "posts?embed=comments"]) {
        const { status, text } = await service.send({ path: `/api/v1/${path}` });
        const { detail } = JSON.parse(text) as { detail: string };
        assert.equal(status, 400);
        assert.ok(detail.includes(`which is not ${declaration("comments").split("is not ")[1]}`), detail);
      }
      const { text } = await service.send({ path: "/api/v1/posts?_expand=category" });
      assert.match(
        (JSON.parse(text) as { detail: string }).detail,
        /give "posts" the option "references", such as "references": \{"categoryId":\{"collection":"categories","as":"category","inverse":"posts"\}\}/,
      );
    }
  });

  test("gets an empty 404 below a resource, with a hint that says what to declare", async (t) => {
    for (const options of [{}, { collections: { posts } }]) {
      const service = await startFor(t, options);
      await service.create("posts", { title: "a" });
      for (const method of ["GET", "POST", "QUERY"]) {
        const answer = await service.send({ method, path: "/api/v1/posts/1/comments" });
        check(answer, { status: 404, headers: { "Holdfast-Hint": declaration("comments") } });
        assert.equal(answer.text, "");
      }
      for (const path of ["posts/1/_comments", "posts/1/comments/1", "posts/1/%C3%A4", "posts/99"])
        assert.equal(
          (await service.send({ path: `/api/v1/${path}` })).headers["holdfast-hint"],
          undefined,
          path,
        );
    }
  });

  test("a misspelled relation and a single one have hints, and a missing resource has none", async (t) => {
    const service = await startFor(t, { collections: { posts, comments } });
    await service.create("posts", { title: "a" });
    const hint = async (path: string) =>
      (await service.send({ path: `/api/v1/${path}` })).headers["holdfast-hint"];
    assert.equal(
      await hint("posts/1/coments"),
      '"coments" is not a relation of "posts". Did you mean "comments"?',
    );
    assert.equal(await hint("comments/1/post"), '"post" is one resource, not a list: use embed=post');
    assert.equal(await hint("posts/99/comments"), undefined);
  });

  test("a hint does not show a collection or a relation that the caller cannot see", async (t) => {
    const rules = { read: { role: "hr" } } as const;
    const service = await startFor(t, {
      auth,
      collections: {
        posts: { ...posts, access: { read: "public" } },
        salaries: { ...posts, access: rules },
        comments: {
          ...comments,
          access: { read: "public" },
          attributes: { postId: { roles: ["hr"] } },
        },
      },
    });
    const hintFor = async (who: Caller | undefined, path: string) => {
      const answer = await sendAs(service, who, { path: `/api/v1/${path}` });
      assert.deepEqual([answer.status, answer.text], [404, ""], path);
      return answer.headers["holdfast-hint"];
    };
    for (const who of [undefined, "ada", "bad", "expired"] as const)
      assert.equal(await hintFor(who, "salaries/1/bonuses"), undefined);
    assert.match(String(await hintFor("hans", "salaries/1/bonuses")), /"salaryId"/);
    // For a caller who cannot see the attribute, the relation exists as little as another one.
    for (const who of [undefined, "ada"] as const) {
      assert.equal(await hintFor(who, "posts/1/comments"), declaration("comments"));
      assert.equal(await hintFor(who, "posts/1/likes"), declaration("likes"));
    }
    assert.equal(await hintFor("hans", "posts/1/comments"), undefined);
  });
});
