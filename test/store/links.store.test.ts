import assert from "node:assert/strict";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../src/store/open.ts";
import { makeFolder } from "../folder.ts";

const folder = makeFolder();

/** A store that opens although it should not is closed, or the test would hang instead of failing. */
async function requireRefused(path: string, message: RegExp): Promise<void> {
  const opening = openStore({ kind: "sqlite", path });
  opening.then(
    (store) => store.close(),
    () => {},
  );
  await assert.rejects(opening, { name: "StartError", message });
}

test("a symbolic link leads to the one store, and to its lock", async () => {
  mkdirSync(join(folder, "data"));
  const path = join(folder, "data", "real.db");
  const link = join(folder, "link.db");
  const store = await openStore({ kind: "sqlite", path });
  symlinkSync(path, link);
  try {
    await requireRefused(link, /is in use/);
  } finally {
    await store.close();
  }
  await (await openStore({ kind: "sqlite", path: link })).close();
});

test("a file under two names is refused", async () => {
  const path = join(folder, "one.db");
  await (await openStore({ kind: "sqlite", path })).close();
  linkSync(path, join(folder, "two.db"));
  await requireRefused(path, /hard links/);
});

test("a link to a file that does not exist is refused, since its lock would lie beside the link", async () => {
  const link = join(folder, "dangling.db");
  symlinkSync(join(folder, "nowhere.db"), link);
  await requireRefused(link, /is a link to a file that does not exist\. Create that file empty/);
  writeFileSync(join(folder, "nowhere.db"), "");
  await (await openStore({ kind: "sqlite", path: link })).close();
});
