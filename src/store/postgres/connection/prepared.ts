/**
 * Statements that the server keeps prepared, so that it parses and plans them once for each connection.
 * https://www.postgresql.org/docs/current/sql-prepare.html
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type pg from "pg";
import { sqlState } from "./failures.ts";

/** How many statements a connection keeps prepared. Each takes about 100 kB of the server's memory. */
const maxPrepared = 32;

/** How many texts of statements are remembered. A text is prepared when it comes for the second time. */
const maxTexts = 256;

/** The members of the driver's client that its types do not declare. */
interface DriverClient {
  processID: number | null;
  connection: { parsedStatements: Record<string, string> };
}

/** The prepared statements of the connections of one pool. */
export class PreparedStatements {
  /** The name of each text; an empty one for a text that came once. */
  readonly #names = new LRUCache<string, string>({ max: maxTexts });
  readonly #clients = new WeakMap<pg.PoolClient, LRUCache<string, true> | "indirect">();
  #generation = 0;

  /** The name for a statement on a connection. `undefined` if it is not to be prepared there. */
  async nameOf(sql: string, client: pg.PoolClient): Promise<string | undefined> {
    const known = this.#names.get(sql);
    if (known === undefined) this.#names.set(sql, "");
    if (known === undefined || this.#generation === Number.POSITIVE_INFINITY) return undefined;
    const name = known === "" ? this.#newName(sql) : known;
    const prepared = this.#clients.get(client) ?? (await this.#inspect(client));
    if (prepared === "indirect") return undefined;
    prepared.set(name, true);
    return name;
  }

  /**
   * Whether an error is about a prepared statement, and nothing was executed: repeat the statement. After changes of a table,
   * the server refuses the old plans, so all names are replaced. Where another connection has our statements, nothing is
   * prepared any more.
   */
  isStale(error: unknown): boolean {
    const state = sqlState(error) ?? "";
    const isForeign = ["26000", "42P05"].includes(state); // invalid_sql_statement_name, duplicate_prepared_statement
    const isOld = state === "0A000"; // feature_not_supported: "cached plan must not change result type"
    if (!isForeign && !isOld) return false;
    this.#generation = isForeign ? Number.POSITIVE_INFINITY : this.#generation + 1;
    this.#names.clear();
    return true;
  }

  /** The name depends on the text, so that equal names always mean equal statements. */
  #newName(sql: string): string {
    const name = `holdfast_${this.#generation}_${createHash("sha256").update(sql).digest("hex").slice(0, 32)}`;
    this.#names.set(sql, name);
    return name;
  }

  /**
   * Behind a pooler such as PgBouncer, another process responds than the one that greeted, and it may be another one each time.
   * Elsewhere, plans that were made for a small table must not read a grown one from its beginning to its end. No plan is
   * compiled: that takes longer than a statement that reads little.
   */
  async #inspect(client: pg.PoolClient): Promise<LRUCache<string, true> | "indirect"> {
    const driver = client as pg.PoolClient & DriverClient;
    const { rows } = await client.query<{ found: string | null }>(inspection, [driver.processID ?? 0]);
    const prepared = rows[0]?.found === "offoff" ? preparedOn(driver) : "indirect";
    this.#clients.set(client, prepared);
    return prepared;
  }
}

const inspection = `select case when pg_backend_pid() = $1::integer
  then set_config('enable_seqscan', 'off', false) || set_config('jit', 'off', false) end as found`;

/** The names of the statements that are prepared on a connection. */
function preparedOn(client: pg.PoolClient & DriverClient): LRUCache<string, true> {
  return new LRUCache<string, true>({
    max: maxPrepared,
    dispose(_, name, reason) {
      if (reason !== "evict") return;
      delete client.connection.parsedStatements[name];
      client.query(`deallocate "${name}"`).catch(() => {}); // the connection is lost
    },
  });
}
