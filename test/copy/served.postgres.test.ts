/** A copy into a database on which a service runs already: it held nothing when the service was started. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../src/errors.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port/store.ts";
import { declaration } from "../store/contract/fixture.ts";
import { makeBusy } from "./busy.ts";
import { makePlace } from "./places.ts";
import { copy } from "./run.ts";

const own = declaration("own");

test("an instance that serves a database while it is copied into sees nothing of it and writes nothing, until all is there", async (t) => {
  const [from, to] = [await makePlace(t, "sqlite"), await makePlace(t, "postgres")];
  await makeBusy(from, 7);
  const source = await openStore(from, { history: "forever" });
  const count = await source.count("notes");
  assert.ok(count > 0);
  await source.close();
  const instance = await openStore(to, { sweepMs: 1, history: "none" });
  t.after(() => instance.close());
  const seen: string[] = [];
  const watch = async (what: string) => {
    seen.push(`${what}: ${await look(instance)}`);
    return { update() {}, stop() {} };
  };
  await copy(from, to, { watch });
  const nothing = "0 notes, a new collection: UNAVAILABLE, an import: UNAVAILABLE";
  assert.deepEqual(
    seen,
    ["copying", "creating indexes", "verifying"].map((what) => `${what}: ${nothing}`),
  );
  assert.equal(await instance.count("notes"), count);
  await instance.migrate([own]);
  assert.ok(instance.collections().has("own"));
});

async function look(instance: Store): Promise<string> {
  const refused = async (work: Promise<unknown>) =>
    work.then(
      () => "done",
      (error: unknown) => (error instanceof Problem ? error.code : String(error)),
    );
  const count = await instance.count("notes");
  const declared = await refused(instance.migrate([own]));
  return `${count} notes, a new collection: ${declared}, an import: ${await refused(instance.load(own))}`;
}
