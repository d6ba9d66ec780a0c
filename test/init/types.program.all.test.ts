/** The configuration that `holdfast init` writes passes the type checker, and the typed client takes its types from it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { database, folderWith, init } from "../commands/init-fixture.ts";

const usage = `
import { createClient } from "holdfast-client";
import type config from "./holdfast.config.ts";

const client = createClient<typeof config>({ baseUrl: "" });
export async function use(): Promise<string | null | undefined> {
  const [comment] = await client.comments.list({ embed: { post: true } }).all();
  const views: number | undefined = comment?.post?.views;
  const post = await client.posts.create({ title: null, views: views ?? 0, publishedOn: "2024-01-02" });
  const id: number = post.id;
  const inner: string | undefined = (await client.posts.get(id)).author?.name;
  // @ts-expect-error: views are numbers
  await client.posts.create({ views: "1" });
  // @ts-expect-error: no such collection
  client.likes;
  return inner ?? post.title;
}
`;

test("the configuration for a database is typed, with its relations", async (t) => {
  const cwd = await folderWith({
    "db.json": JSON.stringify(database),
    "use.ts": usage,
    "package.json": '{"type":"module"}',
  });
  await init(t, cwd, "db.json");
  const tsconfig = {
    extends: resolve("client/tsconfig.json"),
    compilerOptions: {
      paths: { "holdfast-client": [resolve("client/src/index.ts")], holdfast: [resolve("dist/index.d.ts")] },
      typeRoots: [resolve("node_modules/@types")],
      types: ["node"],
      rootDir: "/",
    },
    include: ["*.ts"],
  };
  await writeFile(join(cwd, "tsconfig.json"), JSON.stringify(tsconfig));
  await promisify(execFile)(resolve("node_modules/.bin/tsc"), ["--noEmit", "-p", cwd]).catch(
    (error: { stdout: string }) => assert.fail(error.stdout),
  );
});
