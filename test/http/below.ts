/** Another program that uses the store below the service, for each kind of store. */
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { StoreAddress } from "../../src/store/open.ts";
import { ceilingMs } from "../until.ts";

/** A separate connection to the store. */
export interface Below {
  /** The name of one of the store's tables, such as `changes_1`. */
  table(name: string): string;
  /** The column of the table of resources that has their ids or keys. */
  keyColumn: string;
  run(sql: string): Promise<void>;
  /** All rows of a query. A JSON value is its text, and numbers can be texts. */
  all(sql: string): Promise<Record<string, unknown>[]>;
  /** The first row of a query. */
  first(sql: string): Promise<Record<string, unknown>>;
  /** Locks the store against other writes until `letGo`. */
  hold(): Promise<void>;
  letGo(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a connection to a service's store. */
export async function openBelow(address: StoreAddress): Promise<Below> {
  return address.kind === "sqlite" ? belowSqlite(address.path) : await belowPostgres(address.url);
}

function belowSqlite(path: string): Below {
  const database = new DatabaseSync(path, { timeout: ceilingMs });
  const run = async (sql: string) => database.exec(sql);
  return {
    table: (name) => name,
    keyColumn: "id",
    run,
    all: async (sql) => database.prepare(sql).all(),
    first: async (sql) => ({ ...database.prepare(sql).get() }),
    hold: () => run("begin immediate"),
    letGo: () => run("commit"),
    close: async () => database.close(),
  };
}

const written = ["collections", "heads", "ids", "meta", "receipts"].map((name) => `holdfast_${name}`);

async function belowPostgres(url: string): Promise<Below> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // the database may end before the test
  await client.connect();
  const run = async (sql: string) => void (await client.query(sql));
  return {
    table: (name) => `holdfast_${name}`,
    keyColumn: "key",
    run,
    all: async (sql) => (await client.query({ text: sql, types: { getTypeParser: () => String } })).rows,
    first: async (sql) => {
      const [row = {}] = (await client.query<Record<string, unknown>>(sql)).rows;
      const numbers = Object.entries(row).map(([name, value]) => [
        name,
        /^\d+$/.test(String(value)) ? Number(value) : value,
      ]);
      return Object.fromEntries(numbers);
    },
    hold: () => run(`begin; lock table ${written.join(", ")} in share row exclusive mode`),
    letGo: () => run("commit"),
    close: () => client.end(),
  };
}
