import assert from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openStore } from "../../src/store/open.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-links-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a symbolic link leads to the one store, and to its lock", async () => {
  mkdirSync(join(folder, "data"));
  const path = join(folder, "data", "real.db");
  const link = join(folder, "link.db");
  const store = await openStore({ kind: "sqlite", path });
  symlinkSync(path, link);
  await assert.rejects(openStore({ kind: "sqlite", path: link }), { name: "StartError" });
  await store.close();
  await (await openStore({ kind: "sqlite", path: link })).close();
});

test("a file under two names is refused", async () => {
  const path = join(folder, "one.db");
  await (await openStore({ kind: "sqlite", path })).close();
  linkSync(path, join(folder, "two.db"));
  await assert.rejects(openStore({ kind: "sqlite", path }), { name: "StartError", message: /hard links/ });
});
