import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../folder.ts";
import { configuration, run, serveHere } from "./cli.ts";

const declared = { users: {}, posts: { references: { by: "users" } } };

async function declare(cwd: string, collections: object): Promise<void> {
  for (const [name, text] of Object.entries(configuration(collections)))
    await writeFile(join(cwd, name), text);
}

const files = {
  "users.ndjson": '{"id":"kim"}\n',
  "posts.ndjson": '{"id":"a","by":"kim"}\n{"id":"b","by":"lee"}\n{"id":"c"}\n',
};

test("references that lead nowhere are told by check, and keep the service from starting", async (t) => {
  const cwd = makeFolder({ ...files, ...configuration({ users: {}, posts: {} }) });
  for (const name of ["users", "posts"])
    assert.equal((await run(t, ["import", name, `${name}.ndjson`], { cwd })).exitCode, 0);
  await declare(cwd, declared);
  const checked = await run(t, ["check"], { cwd });
  assert.equal(checked.exitCode, 1);
  assert.match(checked.stdout, /^posts: 1 resource refers to a resource that does not exist$/m);
  assert.match(checked.stdout, /^ {2}"b": "by" is not the id of a resource of users$/m);
  const refused = await run(t, ["serve"], { cwd });
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /^holdfast: In posts, one resource refers .*first "b".*--accept/);
  const service = await serveHere(t, { accept: true }, { cwd });
  assert.equal((await fetch(`${service.base}/posts/b`)).status, 200);
  assert.equal((await fetch(`${service.base}/users/kim`, { method: "DELETE" })).status, 409);
  await service.stop();
});

test("an import is held to references, and names the lines", async (t) => {
  const cwd = makeFolder({ ...files, ...configuration(declared) });
  assert.equal((await run(t, ["import", "users", "users.ndjson"], { cwd })).exitCode, 0);
  const { exitCode, stderr } = await run(t, ["import", "posts", "posts.ndjson"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(stderr, /line 2: "by" is not the id of an existing resource/);
  const skipped = await run(t, ["import", "posts", "posts.ndjson", "--skip-invalid"], { cwd });
  assert.match(skipped.stdout, /^2 resources imported/m);
});

test("an import whose references among its own resources lead nowhere is told in one line", async (t) => {
  const nodes = '{"id":"a","in":"b"}\n{"id":"b","in":"c"}\n';
  const cwd = makeFolder({
    nodes,
    ...configuration({ nodes: { references: { in: { collection: "nodes", onDelete: "cascade" } } } }),
  });
  const { exitCode, stderr } = await run(t, ["import", "nodes", "nodes"], { cwd });
  assert.equal(exitCode, 1);
  assert.match(
    stderr,
    /holdfast: Some references lead to resources that do not exist: nodes\/b \(in: nodes\/c\)\./,
  );
});

test("the lists of a json-server database may refer to each other, whatever their order", async (t) => {
  const collections = {
    posts: { id: "integer", references: { by: "users", tags: { collection: "tags", onDelete: "clear" } } },
    users: { references: { best: { collection: "posts", onDelete: "clear" } } },
    tags: {},
  };
  const database = (by: string) =>
    JSON.stringify({
      posts: [
        { id: 1, by: "kim", tags: ["x", "y"] },
        { id: 2, by },
      ],
      users: [{ id: "kim", best: 2 }, { id: "lee" }],
      tags: [{ id: "x" }, { id: "y" }],
    });
  const files = { "lost.json": database("nobody"), "db.json": database("lee") };
  const cwd = makeFolder({ ...files, ...configuration(collections) });
  const lost = await run(t, ["import", "lost.json"], { cwd });
  assert.equal(lost.exitCode, 1);
  assert.match(
    lost.stderr,
    /holdfast: Some references lead to resources that do not exist: posts\/2 \(by: users\/nobody\)\./,
  );
  const { exitCode, stdout, stderr } = await run(t, ["import", "db.json"], { cwd });
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, /^6 resources in 3 collections/m);
  const service = await serveHere(t, {}, { cwd });
  assert.equal((await fetch(`${service.base}/users/lee`, { method: "DELETE" })).status, 409);
  assert.equal((await fetch(`${service.base}/tags/x`, { method: "DELETE" })).status, 205);
  const post = await (await fetch(`${service.base}/posts/1`)).json();
  assert.deepEqual(post, { id: 1, by: "kim", tags: ["y"] });
  await service.stop();
});

test("references that cannot hold are refused when the service starts", async (t) => {
  const schema = { type: "object", required: ["by"], properties: { by: { type: "string" } } };
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ posts: { references: { by: "users" } } }, /posts\.references\.by: no collection "users" is declared/],
    [
      { users: {}, posts: { schema, references: { by: { collection: "users", onDelete: "clear" } } } },
      /the schema requires the attribute, so a delete cannot clear it/,
    ],
    [{ users: {}, posts: { references: { by: { collection: "users", onDelete: "set" } } } }, /by must be a/],
    [{ users: {}, posts: { references: ["by"] } }, /posts\.references must be an object/],
    [{ users: {}, posts: { schema, references: { bye: "users" } } }, /the schema must allow an id here/],
  ];
  for (const [collections, says] of cases) {
    const cwd = makeFolder(configuration(collections));
    const { exitCode, stderr } = await run(t, ["check"], { cwd });
    assert.equal(exitCode, 1);
    assert.match(stderr, says);
  }
});
