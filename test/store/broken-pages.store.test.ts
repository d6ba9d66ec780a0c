/** Files in which a page is no page of SQLite any more. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { makeFolder } from "../folder.ts";
import { at } from "./contract/fixture.ts";
import { checkFile, writeWholeFile } from "./whole-file.ts";

test("reads that share a transaction with one that meets a broken page get 503, and a check names the file", async () => {
  const path = join(makeFolder(), "store.db");
  await writeWholeFile(path);
  const database = new DatabaseSync(path, { readOnly: true });
  const leaf = database
    .prepare("select pgoffset from dbstat where name = 'receipts' and pagetype = 'leaf' limit 1")
    .get();
  database.close();
  const bytes = readFileSync(path);
  bytes[Number(leaf?.pgoffset)] = 0xff;
  writeFileSync(path, bytes);
  const { found } = await checkFile(path);
  assert.match(
    found[0] ?? "",
    /^The file \S+store\.db is damaged: .*\. Requests that read this part of it fail, or lack data\. Restore a backup\.$/,
  );
  const store = await openStore({ kind: "sqlite", path }, { sweepMs: Number.POSITIVE_INFINITY });
  const reads = Array.from({ length: 60 }, (_, n) => store.receipt(`POST t${n}`, at));
  for (const { reason } of (await Promise.allSettled(reads)).filter((each) => each.status === "rejected"))
    assert.equal(reason.code, "UNAVAILABLE", String(reason));
  assert.equal(store.health().kind, "failed");
  await store.close();
});
