import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { openKeys, openStore, type StoreAddress } from "../../src/store/open.ts";
import { commit, created, declaration, topic } from "../store/contract/fixture.ts";
import { databaseFor, query } from "./databases.ts";
import { serveOn } from "./served.ts";

const asSystem = "set allow_system_table_mods = on;";

/** A store in a database with the catalogue of a cluster. */
async function openCluster(t: TestContext): Promise<{ url: string; address: StoreAddress }> {
  const url = await databaseFor(t);
  const address = { kind: "postgres", url } as const;
  const store = await openStore(address);
  await store.migrate([declaration("topics")]);
  await store.close();
  await query(
    url,
    `${asSystem} create table pg_catalog.pg_dist_partition (logicalrelid regclass primary key, partmethod "char" not null,
      partkey text, colocationid integer not null, repmodel "char" not null, autoconverted boolean not null);
    create table pg_catalog.pg_dist_local_group (groupid integer primary key); insert into pg_dist_local_group values (0)`,
  );
  return { url, address };
}

/** From now on, the server says that it is a worker node, and refuses tables and indexes as such a node does. */
async function makeWorker(url: string): Promise<void> {
  await query(
    url,
    `${asSystem} update pg_dist_local_group set groupid = 1;
    create function pg_catalog.refuse() returns event_trigger language plpgsql as $$ begin
      raise 'operation is not allowed on this node'
        using errcode = 'XX000', hint = 'Connect to the coordinator and run it again.';
    end $$;
    create event trigger worker on ddl_command_start when tag in ('CREATE TABLE', 'CREATE INDEX')
      execute function pg_catalog.refuse()`,
  );
}

/** How Citus notes a table: its method of distribution, group of colocation, and model of replication. */
interface Noted {
  method: "h" | "n" | "a";
  group: number;
  replication: "s" | "t";
}

/** Notes the tables whose names match. */
async function note(url: string, names: string, { method, group, replication }: Noted): Promise<void> {
  await query(
    url,
    `${asSystem} insert into pg_dist_partition
      select oid, '${method}', null, ${group}, '${replication}', false from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname ~ '${names}'
      on conflict (logicalrelid) do update
        set partmethod = excluded.partmethod, colocationid = excluded.colocationid, repmodel = excluded.repmodel`,
  );
}

const inSchema: Noted = { method: "n", group: 3, replication: "s" };

describe("through a worker node of a Citus cluster", () => {
  const refusal =
    "The database cannot do this: a worker node of a Citus cluster cannot create a collection or an index, so declare it through the coordinator first.";

  test("resources of a distributed schema are written, and a new collection or index is refused", async (t) => {
    const { url, address } = await openCluster(t);
    await note(url, "^holdfast_", inSchema);
    await makeWorker(url);
    const store = await openStore(address);
    t.after(() => store.close());
    await commit(store, [created(topic("a"))]);
    const isRefused = { name: "Problem", code: "UNAVAILABLE", message: refusal };
    await assert.rejects(store.migrate([declaration("users")]), isRefused);
    await assert.rejects(store.migrate([declaration("topics", { search: [["title"]] })]), isRefused);
    assert.deepEqual(store.health(), { kind: "ok", durability: "relaxed" });
    assert.equal(await store.count("topics"), 1);
    const served = await serveOn(t, url);
    const answer = await served.ask("POST", "users", { name: "Ada" });
    assert.equal(answer.status, 503);
    assert.equal((answer.content as { detail: string }).detail, refusal);
  });

  test("a start is refused where no store is in a distributed schema", async (t) => {
    const { url, address } = await openCluster(t);
    await makeWorker(url);
    const isRefused = {
      name: "StartError",
      message: /^The address leads to a worker node of a Citus cluster, /,
    };
    await assert.rejects(openStore(address, { mayWait: true }), isRefused);
    await query(url, "drop schema public cascade; create schema public");
    for (const open of [openStore, openKeys]) await assert.rejects(open(address), isRefused);
    const { rows } = await query(url, "select 1 from pg_class where relnamespace = 'public'::regnamespace");
    assert.deepEqual(rows, [], "nothing was created");
  });
});
