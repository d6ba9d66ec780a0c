/** The restore of a deleted resource undoes the delete, so it needs the right to delete. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { owner } from "../../../src/access/access-declaration.ts";
import { startServiceForFile } from "../service.ts";
import { auth, type Caller, createAs, outcome, sendAs } from "./callers.ts";

const service = await startServiceForFile({
  auth,
  collections: {
    // Everyone creates, and only the owner deletes.
    notes: {
      access: {
        read: "public",
        create: "authenticated",
        update: "authenticated",
        delete: owner("authorId"),
      },
    },
    // The owner deletes, and only editors create.
    papers: { access: { read: "public", create: { role: "editor" }, delete: "authenticated" } },
  },
});

const restore = (who: Caller | undefined, path: string) =>
  sendAs(service, who, { method: "POST", path: `${path}/_restore`, content: { version: 1 } });

test("restoring a deleted resource needs the right to delete its last state", async () => {
  const { path } = await createAs(service, "ada", "notes", { authorId: "ada" });
  await sendAs(service, "ada", { method: "DELETE", path });
  for (const who of ["bob", "eve"] as const)
    assert.equal(outcome(await restore(who, path)), "403 INSUFFICIENT_SCOPE");
  assert.equal(outcome(await restore(undefined, path)), "401 UNAUTHENTICATED");
  assert.equal((await restore("ada", path)).status, 201);
});

test("the right to restore depends on the state before the delete, not on the restored version", async () => {
  const { path } = await createAs(service, "ada", "notes", { authorId: "bob" });
  await sendAs(service, "ada", { method: "PATCH", path, content: { authorId: "ada" } });
  assert.equal((await sendAs(service, "ada", { method: "DELETE", path })).status, 205);
  assert.equal(outcome(await restore("bob", path)), "403 INSUFFICIENT_SCOPE");
  assert.equal((await restore("ada", path)).status, 201);
});

test("restoring a deleted resource also needs the right to create it", async () => {
  const { path } = await createAs(service, "eve", "papers", {});
  await sendAs(service, "ada", { method: "DELETE", path });
  assert.equal(outcome(await restore("ada", path)), "403 INSUFFICIENT_SCOPE");
  assert.equal((await restore("eve", path)).status, 201);
});
