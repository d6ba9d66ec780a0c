/** What a store says about its tables in a Citus cluster. The catalogue of the cluster is a table with the same columns. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StartError } from "../../src/errors.ts";
import { openKeys, openReader, openSource, openStore, type StoreAddress } from "../../src/store/open.ts";
import { commit, created, topic } from "../store/contract/fixture.ts";
import { inSchema, type Noted, note, openCluster } from "./cluster-catalogue.ts";
import { query } from "./databases.ts";
import { startPostgres } from "./server.ts";

const ofCoordinator: Noted = { method: "n", group: 0, replication: "s" };

describe("a store in a Citus cluster is served", () => {
  const served: [where: string, names: string, noted: Noted][] = [
    ["on the coordinator", "^nothing$", ofCoordinator],
    ["on the coordinator, where the cluster knows some of its tables", "_resources_", ofCoordinator],
    ["in a distributed schema", "^holdfast_.*[^0-9]$|^holdfast_[a-z]+_1$", inSchema],
  ];
  for (const [where, names, noted] of served)
    test(where, async (t) => {
      const { url, address } = await openCluster(t);
      for (const name of ["others", "holdfast_heads_102008", "holdfast_resources_1_102009"])
        await query(url, `create table ${name} (n integer)`); // Citus names a part of a table like this
      await note(url, names, noted);
      await note(url, "^others$", { method: "h", group: 1, replication: "s" });
      const store = await openStore(address);
      t.after(() => store.close());
      await commit(store, [created(topic("a"))]);
      assert.equal(await store.count("topics"), 1);
    });
});

test("a node of a Citus cluster that can lose confirmed writes makes the store relaxed", async (t) => {
  const server = await startPostgres(["fsync=on"]);
  t.after(() => server.remove());
  const { address, url } = await openCluster(t, server.url);
  const warnings: string[] = [];
  const open = async () => {
    const store = await openStore(address, { onWarning: (text) => warnings.push(text) });
    t.after(() => store.close());
    return store.health();
  };
  const answer = (settings: string) =>
    query(
      url,
      `create or replace function pg_catalog.run_command_on_all_nodes(command text)
        returns table (nodeid integer, success boolean, result text) language plpgsql ${settings} as $$ begin
          return query select 1, false, 'the node does not respond';
          execute command into result;
          return query select 2, true, result;
        end $$`,
    );
  assert.deepEqual(await open(), { kind: "ok" }, "the nodes cannot be asked");
  await answer("");
  assert.deepEqual(await open(), { kind: "ok" });
  assert.deepEqual(warnings, []);
  await answer("set synchronous_commit = off");
  assert.deepEqual(await open(), { kind: "ok", durability: "relaxed" });
  assert.match(warnings.join(), /^A node of the Citus cluster has synchronous_commit off\. /);
});

test("the size of a collection in a Citus cluster is that of the node which has it", async (t) => {
  const { url, address } = await openCluster(t);
  await query(
    url,
    `create function pg_catalog.citus_total_relation_size(regclass, fail boolean default true)
      returns bigint language sql return 1000000`,
  );
  const store = await openStore(address);
  t.after(() => store.close());
  const size = async () => (await store.sizes(["topics"])).get("topics") ?? 0;
  const own = await size();
  assert.ok(own > 0 && own < 1_000_000, `${own} bytes`);
  await note(url, "_resources_", inSchema);
  const withNode = await size();
  assert.ok(withNode > 1_000_000 && withNode < 1_000_000 + own, `${withNode} bytes`);
});

describe("a store in a Citus cluster is refused", () => {
  const refused: [where: string, names: string, noted: Noted, message: RegExp][] = [
    [
      "where a table is distributed by a column",
      "_resources_",
      { method: "h", group: 1, replication: "s" },
      /^The table holdfast_resources_1 is distributed by a column in the Citus cluster\. /,
    ],
    [
      "where a table is distributed by ranges",
      "_receipts$",
      { method: "a", group: 0, replication: "s" },
      /^The table holdfast_receipts is distributed by a column /,
    ],
    [
      "where the table of deleted ids is distributed",
      "_deleted_",
      { method: "h", group: 1, replication: "s" },
      /^The table holdfast_deleted_1 is distributed by a column /,
    ],
    [
      "where a table is on every node",
      "_heads$",
      { method: "n", group: 2, replication: "t" },
      /^The table holdfast_heads is a reference table, with a copy on every node /,
    ],
    [
      "where a table is on another node",
      "_keys$",
      { ...inSchema, group: 4 },
      /^The tables holdfast_changes_1 and holdfast_keys are in different places in the Citus cluster\. /,
    ],
    [
      "where a table of deleted ids is on another node",
      "_deleted_1$",
      { ...inSchema, group: 4 },
      /^The tables holdfast_changes_1 and holdfast_deleted_1 are in different places /,
    ],
    [
      "where a table is on the coordinator",
      "_ids$",
      ofCoordinator,
      /^The tables holdfast_changes_1 and holdfast_ids are in different places /,
    ],
  ];
  for (const [where, names, noted, message] of refused)
    test(where, async (t) => {
      const { url, address } = await openCluster(t);
      await note(url, "^holdfast_", inSchema);
      await note(url, names, noted);
      const start = (opened: StoreAddress) => openStore(opened, { mayWait: true });
      for (const open of [start, openReader, openKeys, openSource])
        await assert.rejects(open(address), (error: Error) => {
          assert.ok(error instanceof StartError, String(error));
          assert.match(error.message, message);
          return true;
        });
    });
});
