import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openKeys, openStore } from "../../src/store/open.ts";
import { commit, created, declaration, topic } from "../store/contract/fixture.ts";
import { asSystem, inSchema, note, openCluster } from "./cluster-catalogue.ts";
import { query } from "./databases.ts";
import { serveOn } from "./served.ts";

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
