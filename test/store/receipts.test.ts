import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openStore } from "../../src/store/open.ts";

test("receipts that have expired leave the file with a later one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-receipts-"));
  const path = join(folder, "x.db");
  const store = await openStore({ kind: "sqlite", path });
  try {
    await store.migrate([{ name: "topics", idKind: "uuid", schema: undefined, indexes: [], search: [] }]);
    const commitAt = (at: number, id: string) =>
      store.commit({
        changes: [{ key: { collection: "topics", id }, expect: "absent", next: `{"id":"${id}"}` }],
        receipt: { key: id, fingerprint: "f", answer: "{}", expiresAt: at + 1_000 },
        at,
      });
    await commitAt(0, "a");
    await commitAt(500, "b");
    await commitAt(1_200, "c");
    const db = new DatabaseSync(path, { readOnly: true });
    const keys = db.prepare("select key from receipts order by key").all() as { key: string }[];
    db.close();
    assert.deepEqual(
      keys.map(({ key }) => key),
      ["b", "c"],
    );
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
