/** A reader who sees a delete also sees the changes that onDelete made. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { OnDelete } from "../../src/collection/references.ts";
import type { CollectionRecord } from "../../src/store/port/record.ts";
import type { Store } from "../../src/store/port/store.ts";
import type { Key, Stored } from "../../src/store/port/stored.ts";
import { ceilingMs } from "../until.ts";
import { commit, created, declaration, deleted, topic, user } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

function record(name: string, references: CollectionRecord["references"] = []): CollectionRecord {
  return declaration(name, { references });
}

/** Calls back while the event loop polls. Messages of other threads arrive only after the reads of this turn. */
async function whilePolling<T>(work: () => Promise<T>): Promise<T> {
  const server = createServer((socket) => socket.end("x")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  try {
    return await new Promise((resolve) => client.once("data", () => resolve(work())));
  } finally {
    client.destroy();
    server.close();
  }
}

/** Holds this thread until the writer's has written that a user is gone. */
function holdUntilGone(path: string, id: string): void {
  const database = new DatabaseSync(path, { readOnly: true, timeout: ceilingMs });
  const [{ number } = {}] = database.prepare("select number from collections where name = 'users'").all();
  const find = database.prepare(`select 1 from resources_${number} where id = ?`);
  const begun = performance.now();
  while (find.get(id) !== undefined) {
    assert.ok(performance.now() - begun < ceilingMs, "the writer does not write");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  database.close();
}

async function readBoth(store: Store, [one, other]: [Key, Key]): Promise<(Stored | undefined)[]> {
  const first = await store.read(one);
  return [first, await store.read(other)];
}

for (const onDelete of ["cascade", "clear"] satisfies OnDelete[]) {
  test(`a reader who sees a delete sees the changes of the resources that referred to it (${onDelete})`, async (t) => {
    const { store, path, cleanup } = await openSqliteFixture();
    t.after(cleanup);
    await store.migrate([
      record("users"),
      record("between", [{ path: ["by"], collection: "users", onDelete: "cascade" }]),
      record("topics", [{ path: ["in"], collection: "between", onDelete }]),
    ]);
    const between = { collection: "between", id: "b" };
    await commit(store, [created(user("kim")), created(between, { by: "kim" })]);
    await commit(store, [created(topic("a"), { in: "b" })]);
    await store.read(topic("a")); // from now on it is kept in memory
    const [gone, after] = await whilePolling(async () => {
      const committed = commit(store, [deleted(user("kim"), 1)]);
      const seen = await whilePolling(() => {
        const reading = readBoth(store, [user("kim"), topic("a")]);
        holdUntilGone(path, "kim"); // the writer is done before this turn reads
        return reading;
      });
      await committed;
      return seen;
    });
    assert.equal(gone, undefined);
    assert.notEqual(after?.version, 1);
    assert.deepEqual(await store.read(topic("a")), after);
  });
}
