/** `holdfast init` of a PostgreSQL store. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "../commands/cli.ts";
import { init } from "../commands/init-fixture.ts";
import { makeFolder } from "../folder.ts";
import { databaseFor } from "../postgres/databases.ts";

test("the store of a database is declared as it is, and the file has no password", async (t) => {
  const url = await databaseFor(t);
  const cwd = makeFolder({
    "db.json": '{"posts":[{"id":"a","title":"One"}],"comments":[{"id":"c","postId":"a"}]}',
  });
  await run(t, ["import", "db.json", "--store", url], { cwd });
  const address = new URL(url);
  address.password = "secret-word";
  const { stdout } = await init(t, cwd, address.href);
  const text = readFileSync(join(cwd, "holdfast.config.ts"), "utf8");
  assert.match(text, /^\/\/ Written by "npx holdfast init" from\n\/\/ postgres:/);
  assert.match(
    text,
    /postId: \{ collection: "posts", as: "post", inverse: "comments", onDelete: "restrict" \},/,
  );
  assert.match(stdout, /npx holdfast serve --store postgres:/);
  assert.ok(!`${text}${stdout}`.includes("secret-word"));
});
