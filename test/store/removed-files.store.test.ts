import assert from "node:assert/strict";
import { copyFileSync, renameSync, rmSync } from "node:fs";
import { test } from "node:test";
import { ceilingMs } from "../until.ts";
import { commit, created, declaration, rejectsWith, topic } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

const topics = declaration("topics");

for (const file of ["", "-shm", ".lock"]) {
  for (const attack of ["remove", "replace"]) {
    test(`a store stops whose file x.db${file} is ${attack}d under it`, { timeout: ceilingMs }, async () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const { path, store, cleanup } = await openSqliteFixture({ onFailure: resolve });
      try {
        await store.migrate([topics]);
        if (attack === "remove") rmSync(path + file);
        else {
          copyFileSync(path + file, `${path}.copy`);
          renameSync(`${path}.copy`, path + file);
        }
        const reason = await promise;
        assert.ok(reason.endsWith(`${file} was ${attack}d while it was in use`), reason);
        await rejectsWith("UNAVAILABLE", commit(store, [created(topic("a"))]));
      } finally {
        await cleanup();
      }
    });
  }
}
