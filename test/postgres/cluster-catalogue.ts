/** The catalogue of a Citus cluster, as tables with the same columns. */
import type { TestContext } from "node:test";
import { openStore, type StoreAddress } from "../../src/store/open.ts";
import { declaration } from "../store/contract/fixture.ts";
import { databaseFor, query } from "./databases.ts";

export const asSystem = "set allow_system_table_mods = on;";

/** How Citus notes a table: its method of distribution, group of colocation, and model of replication. */
export interface Noted {
  method: "h" | "n" | "a";
  group: number;
  replication: "s" | "t";
}

/** Notes the tables whose names match. */
export async function note(url: string, names: string, { method, group, replication }: Noted): Promise<void> {
  await query(
    url,
    `${asSystem} insert into pg_dist_partition
      select oid, '${method}', null, ${group}, '${replication}', false from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname ~ '${names}'
      on conflict (logicalrelid) do update
        set partmethod = excluded.partmethod, colocationid = excluded.colocationid, repmodel = excluded.repmodel`,
  );
}

export const inSchema: Noted = { method: "n", group: 3, replication: "s" };

/** A store in a database with the catalogue of a cluster, on the server of the tests or on one that the test removes. */
export async function openCluster(
  t: TestContext,
  server?: string,
): Promise<{ url: string; address: StoreAddress }> {
  const url = await databaseFor(t, { server });
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
