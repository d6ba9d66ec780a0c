import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const id = { type: "string", maxLength: 128 } as const;
const properties = { authorId: id, title: id, tagIds: { type: "array", items: id } } as const;
const collections = {
  users: {},
  tags: {},
  posts: {
    schema: { type: "object", properties },
    references: { authorId: "users", tagIds: { collection: "tags", onDelete: "clear" } },
  },
  comments: {
    schema: { type: "object", properties: { postId: id }, required: ["postId"] },
    references: { postId: { collection: "posts", onDelete: "cascade" } },
  },
} as const;

const service = await startServiceForFile({ collections });

const nobody = "00000000-0000-7000-8000-000000000000";
const remove = (path: string) => service.send({ method: "DELETE", path });
const read = (path: string) => service.send({ method: "GET", path });

test("POST, PUT and PATCH that refer to what is not there are 400 with the place", async () => {
  const { id, path } = await service.create("posts");
  const expected = (pointer: string) =>
    ({
      status: 400,
      problem: "REFERENCE_NOT_FOUND",
      violations: [{ in: "body", pointer, code: "reference" }],
    }) as const;
  const tag = await service.create("tags");
  const send = (method: string, to: string, content: object) => service.send({ method, path: to, content });
  check(await send("POST", "/api/v1/posts", { authorId: nobody }), expected("#/authorId"));
  check(await send("PATCH", path, { tagIds: [tag.id, nobody] }), expected("#/tagIds/1"));
  check(await send("PUT", path, { id, authorId: "" }), expected("#/authorId"));
  check(await read(path), { status: 200, json: { id } });
});

test("what is referred to stays, until nobody refers to it", async () => {
  const user = await service.create("users");
  const post = await service.create("posts", { authorId: user.id });
  check(await remove(user.path), { status: 409, problem: "REFERENCED" });
  check(await service.send({ method: "PATCH", path: post.path, content: { authorId: null } }), {
    status: 200,
  });
  check(await remove(user.path), { status: 205 });
});

test("a delete clears and cascades at once, and nobody reads what was there before", async () => {
  const tag = await service.create("tags");
  const post = await service.create("posts", { tagIds: [tag.id], title: "t" });
  const comment = await service.create("comments", { postId: post.id });
  const before = (await read(post.path)).headers.etag as string;
  await read(comment.path);
  check(await remove(tag.path), { status: 205 });
  check(await read(post.path), { status: 200, json: { id: post.id, tagIds: [], title: "t" } });
  const stale = { path: post.path, content: { title: "u" }, headers: { "if-match": before } };
  check(await service.send({ method: "PATCH", ...stale }), { status: 412, problem: "PRECONDITION_FAILED" });
  check(await remove(post.path), { status: 205 });
  check(await read(comment.path), { status: 404 });
});

test("a batch that breaks references tells which of its operations does", async () => {
  const user = await service.create("users");
  const post = await service.create("posts", { authorId: user.id });
  const batch = async (operations: object[]) => {
    const answer = await service.send({
      method: "POST",
      path: "/api/v1/_batch",
      content: { operations: [{ method: "POST", path: "/users", body: {} }, ...operations] },
    });
    const { code, operation } = answer.json as { code: string; operation: number };
    return [answer.status, code, operation];
  };
  const gone = { method: "DELETE", path: `/users/${user.id}` };
  assert.deepEqual(await batch([gone]), [409, "REFERENCED", 1]);
  const other = { method: "PATCH", path: `/posts/${post.id}`, body: { title: "u" } };
  assert.deepEqual(await batch([other, gone]), [400, "REFERENCE_NOT_FOUND", 1]);
  const unrelated = { method: "POST", path: "/users", body: {} };
  assert.deepEqual(await batch([unrelated, unrelated, gone, unrelated]), [409, "REFERENCED", 3]);
  const lost = { method: "POST", path: "/posts", body: { authorId: nobody } };
  assert.deepEqual(await batch([unrelated, lost]), [400, "REFERENCE_NOT_FOUND", 2]);
});
