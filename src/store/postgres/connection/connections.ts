/** Pools of connections, for single statements and transactions, and those of a command. */
import { createHash } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as pass } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import pg from "pg";
import { Problem, StartError } from "../../../errors.ts";
import type { PoolStatistics } from "../../port/store.ts";
import { type Plan, runLater } from "../../sql/plans.ts";
import { describeError, failureOf, isRetryable, PoolExhausted, sqlState } from "./failures.ts";

/** The time between two checks, in milliseconds. */
const everyMs = 3_000;

/** After this many checks in a row without a response, the database is lost. A busy database can miss one. */
const maxSilences = 2;

/** Checks the database regularly, and calls `onGone` once if it no longer responds. Returns a function that stops this. */
function watchDatabase(probe: () => Promise<unknown>, onGone: () => void): () => void {
  let silences = 0;
  let isRunning = false;
  const check = async () => {
    if (isRunning) return;
    isRunning = true;
    const isSilent = await probe().then(
      () => false,
      (error) => failureOf(error) === "lost",
    );
    isRunning = false;
    silences = isSilent ? silences + 1 : 0;
    if (silences < maxSilences) return;
    clearInterval(timer);
    onGone();
  };
  const timer = setInterval(check, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** How many statements a connection keeps prepared. Each takes about 100 kB of the server's memory. */
const maxPrepared = 32;

/** How many texts of statements are remembered. A text is prepared when it comes for the second time. */
const maxTexts = 256;

/** The members of the driver's client that its types do not declare. Tests notice if one of them changes. */
interface DriverClient extends pg.PoolClient {
  /** The number of the server's process, and the key with which a statement of it can be cancelled. */
  processID: number | null;
  secretKey: number | null;
  connection: pg.Connection & {
    /** The texts of the statements that need not be prepared again, by name. */
    parsedStatements: Record<string, string>;
  };
}

/** The prepared statements of the connections of one pool. */
export class PreparedStatements {
  /** The name of each text; an empty one for a text that came once. */
  readonly #names = new LRUCache<string, string>({ max: maxTexts });
  /** The names on each connection that was inspected; `undefined` for one through a pooler. */
  readonly #clients = new WeakMap<pg.PoolClient, LRUCache<string, true> | undefined>();
  #generation = 0;

  /** The name for a statement on a connection. `undefined` if it is not to be prepared there. */
  nameOf(sql: string, client: pg.PoolClient): string | undefined {
    const known = this.#names.get(sql);
    if (known === undefined) this.#names.set(sql, "");
    if (known === undefined || this.#generation === Number.POSITIVE_INFINITY) return undefined;
    const name = known === "" ? this.#newName(sql) : known;
    const prepared = this.#clients.get(client);
    if (prepared === undefined) return undefined;
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
   * Looks at a new connection, and sets it up, before its first statement.
   *
   * Behind a pooler such as PgBouncer, another process responds than the one that greeted, and it may be another one each time.
   * Elsewhere, plans that were made for a small table must not read a grown one from its beginning to its end. No plan is
   * compiled: that takes longer than a statement that reads little.
   */
  async inspect(client: pg.PoolClient): Promise<void> {
    if (this.#clients.has(client)) return;
    const driver = client as DriverClient;
    const { rows } = await client.query<{ found: string | null }>(inspection, [driver.processID ?? 0]);
    this.#clients.set(client, rows[0]?.found === "offoff" ? preparedOn(driver) : undefined);
  }
}

const inspection = `select case when pg_backend_pid() = $1::integer
  then set_config('enable_seqscan', 'off', false) || set_config('jit', 'off', false) end as found`;

/** The names of the statements that are prepared on a connection. */
function preparedOn(client: DriverClient): LRUCache<string, true> {
  return new LRUCache<string, true>({
    max: maxPrepared,
    dispose(_, name, reason) {
      if (reason !== "evict") return;
      delete client.connection.parsedStatements[name];
      client.query(`deallocate "${name}"`).catch(() => {}); // the connection is lost
    },
  });
}

/** A row: each value as text, in the format of the database, or null. */
export type Row = readonly (string | null)[];

/** A statement and its values. */
export interface Statement {
  sql: string;
  values?: readonly unknown[];
  /** Whether statements with this text come again and again, so that the server should keep it prepared. @default false */
  isRepeated?: boolean;
}

/**
 * The result of a statement, without the number of rows that the server reports: a cluster can report others than it changed.
 * Use `returning`.
 */
export interface StatementResult {
  rows: readonly Row[];
  /** The command that ran, such as `COMMIT`. */
  command: string;
}

/** Runs one statement, on its own or in a transaction. */
export type Run = (statement: Statement) => Promise<{ rows: readonly Row[] }>;

/** Runs a plan. `run` runs one of its statements. */
export function runPlan<T>(plan: Plan<T>, run: Run): Promise<T> {
  return runLater(plan, async ({ text, values, read }) => {
    const results = await Promise.all(values.map((each) => run({ sql: text.sql, values: each })));
    return read(results.flatMap(({ rows }) => rows));
  });
}

/** Runs statements on one connection. A statement can be sent before the previous ones have finished. */
export interface Connection {
  /** `responseTimeoutMs`: the longest wait for the response. @default that of the connections */
  run(statement: Statement, responseTimeoutMs?: number): Promise<StatementResult>;
  /** Runs work, and returns the texts of the warnings that the server sends meanwhile. */
  warningsDuring(work: () => Promise<unknown>): Promise<readonly string[]>;
  /** Runs several statements that have no values. */
  runAll(sql: string): Promise<void>;
  /** Asks the server to cancel the running statement, and closes the connection. */
  cancel(): void;
}

/** The options of a pool of connections. */
export interface ConnectionsOptions {
  url: string;
  /** How many connections can be open at the same time. */
  max: number;
  /** The longest wait for a free or new connection, in milliseconds. */
  connectTimeoutMs: number;
  /** The longest wait for a response, in milliseconds. After it, the connection is closed. @default no limit */
  responseTimeoutMs?: number;
  /** Succeeds if the database responds. It is called regularly while a connection without a timeout is in use. */
  probe?(): Promise<unknown>;
  /** Called with the error of an idle connection. */
  onIdleError(reason: string): void;
}

/** After this time without a byte, the operating system checks the connection. In milliseconds. */
const keepAliveMs = 10_000;

/** The most attempts of a statement that conflicts with others. */
const maxTries = 10;

const cancelWaitMs = 2_000;

/** The longest wait for an orderly close, in milliseconds: of idle connections, and of all. */
const closeWaitMs = { idle: 1_000, all: 5_000 };

const asText = { getTypeParser: () => (value: string) => value };

/**
 * A connection that survives its errors. They can arrive at any time, also in the same bytes as the first readiness of the server,
 * before anybody can listen, and after the end. Without a listener, an error would end the program.
 */
class SafeClient extends pg.Client {
  /** The error that made the connection unusable. */
  lost: Error | undefined;

  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on("error", (error) => {
      this.lost ??= error; // the waiting statements get it too
    });
  }
}

/** A pool. It opens connections when they are needed. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #max: number;
  readonly #probe: (() => Promise<unknown>) | undefined;
  readonly #idle = new Set<pg.PoolClient>();
  readonly #inUse = new Set<pg.PoolClient>();
  readonly #prepared = new PreparedStatements();

  /** The longest wait for the response to a quick statement, in milliseconds. */
  readonly responseTimeoutMs: number;

  constructor({ url, max, connectTimeoutMs, responseTimeoutMs, probe, onIdleError }: ConnectionsOptions) {
    this.responseTimeoutMs = responseTimeoutMs ?? usualResponseMs;
    this.#pool = new pg.Pool({
      Client: SafeClient,
      connectionString: url,
      application_name: "holdfast",
      max,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      pipeline: true,
      types: asText as unknown as pg.CustomTypesConfig,
      ...(responseTimeoutMs === undefined ? {} : { query_timeout: responseTimeoutMs }),
    });
    this.#max = max;
    this.#probe = probe;
    this.#pool.on("error", (error) => onIdleError(describeError(error)));
    this.#pool.on("remove", (client) => this.#idle.delete(client as pg.PoolClient));
  }

  /**
   * Runs one statement. Repeats it after a conflict, which happens if the database's default isolation level is
   * stricter than ours.
   */
  async run(statement: Statement): Promise<StatementResult> {
    let wasStale = false;
    for (let tries = 1; ; tries++) {
      try {
        return await this.use((connection) => connection.run(statement));
      } catch (error) {
        if (tries === maxTries) throw error;
        // If the error comes again, the preparation is not its reason.
        if (!wasStale && statement.isRepeated === true && this.#prepared.isStale(error)) wasStale = true;
        else if (isRetryable(error)) await pass(Math.random() * 5 * tries);
        else throw error;
      }
    }
  }

  /** Runs a plan, each of its statements on its own. */
  runPlan<T>(plan: Plan<T>): Promise<T> {
    return runPlan(plan, (statement) => this.run(statement));
  }

  /** Runs work on a connection. The connection returns to the pool only if it is idle and not lost. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    this.#idle.delete(client);
    this.#inUse.add(client);
    const unwatch = this.#probe && watchDatabase(this.#probe, () => client.connection.stream.destroy());
    let isReusable = false;
    try {
      await this.#prepared.inspect(client);
      const result = await work(connectionOf(client, this.#prepared));
      isReusable = isIdle(client);
      return result;
    } catch (error) {
      const isLost = isUnusable(error);
      isReusable = isIdle(client) && !isLost;
      // The other idle connections are probably lost too. Closing them saves the next calls from finding out.
      if (isLost) destroyAll(this.#idle);
      throw error;
    } finally {
      unwatch?.();
      this.#inUse.delete(client);
      if (isReusable) this.#idle.add(client);
      client.release(!isReusable);
    }
  }

  /** The connections now. */
  get statistics(): PoolStatistics {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { max: this.#max, open, idle, waiting };
  }

  /** Closes every connection when it is free. Connections that are not free in time, or do not respond, are dropped. */
  async close(): Promise<void> {
    const timers = [
      setTimeout(() => destroyAll(this.#idle), closeWaitMs.idle),
      setTimeout(() => destroyAll(this.#inUse), closeWaitMs.all),
    ];
    await this.#pool.end();
    for (const timer of timers) clearTimeout(timer);
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      for (;;) {
        const client = (await this.#pool.connect()) as pg.PoolClient & SafeClient;
        if (client.lost === undefined && !client.connection.stream.destroyed) return client;
        client.release(true); // destroyed, but the pool did not know yet
        if (client.lost !== undefined) throw client.lost; // a new connection: others would probably end too
      }
    } catch (error) {
      const { totalCount, idleCount } = this.#pool;
      throw totalCount >= this.#max && idleCount === 0 ? new PoolExhausted(error) : error;
    }
  }
}

function destroyAll(clients: ReadonlySet<pg.PoolClient>): void {
  for (const client of clients) client.connection.stream.destroy();
}

/** Whether the connection is lost, or leads to a server that has become read-only. */
function isUnusable(error: unknown): boolean {
  return ["lost", "readOnly"].includes(failureOf(error));
}

/** Whether the connection is outside a transaction, as the server last reported. */
function isIdle(client: pg.PoolClient): boolean {
  return client.getTransactionStatus() === "I";
}

function connectionOf(client: pg.PoolClient, prepared: PreparedStatements): Connection {
  return {
    async run({ sql, values = [], isRepeated = false }, responseTimeoutMs) {
      const name = isRepeated ? prepared.nameOf(sql, client) : undefined;
      const named = name === undefined ? { text: sql } : { text: sql, name };
      const query = { ...named, values: [...values], rowMode: "array" } as const;
      const timed = responseTimeoutMs === undefined ? query : { ...query, query_timeout: responseTimeoutMs };
      const { rows, command } = await client.query<string[]>(timed).catch(rethrowWithoutValues);
      return { rows, command };
    },
    async warningsDuring(work) {
      const warnings: string[] = [];
      const note = ({ code, severity, message = "" }: Notice) => {
        // The severity can be in the language of the server, and a warning can have the code of an error.
        if (severity === "WARNING" || (code !== undefined && code !== successfulCompletion))
          warnings.push(message);
      };
      client.on("notice", note);
      try {
        await work();
      } finally {
        client.off("notice", note);
      }
      return warnings;
    },
    async runAll(sql) {
      await client.query(sql).catch(rethrowWithoutValues);
    },
    cancel: () => cancel(client as DriverClient),
  };
}

/** What the server sends beside a result: a notice or a warning. */
type Notice = Partial<Record<"code" | "severity" | "message", string | undefined>>;

/** The code of a notice that is no warning. */
const successfulCompletion = "00000";

/** The details of a database error can contain values of resources. Errors are logged, so the details are removed. */
function rethrowWithoutValues(error: unknown): never {
  if (error instanceof pg.DatabaseError) {
    error.detail = undefined;
    error.where = undefined;
    error.internalQuery = undefined;
  }
  throw error;
}

/** https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS */
const cancelCode = 80_877_102;

/** Sends the cancel request on a separate connection. The server closes it without a response. */
function cancel({ host, port, processID, secretKey, connection }: DriverClient): void {
  connection.stream.destroy();
  if (processID === null || secretKey === null) return;
  const message = Buffer.alloc(16);
  for (const [n, word] of [16, cancelCode, processID, secretKey].entries()) message.writeInt32BE(word, n * 4);
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on("error", ignore); // then the statement ends at its timeout
  socket.setTimeout(cancelWaitMs, () => socket.destroy());
  socket.end(message);
}

/** A statement that succeeds if the database responds. */
export const probe: Statement = { sql: "select 1" };

/** The longest waits for a connection, and for the response to a quick statement. In milliseconds. */
export const connectTimeoutMs = 3_000;
const usualResponseMs = 5_000;

/** Ignores an error of an idle connection: the next statement reports it. */
export const ignore = () => {};

/** The connections of one command. */
export interface CommandConnections {
  connections: Connections;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Opens connections without a time limit. They are closed if the database no longer responds. */
export function openCommandConnections(url: string): CommandConnections {
  const shared = { url, connectTimeoutMs, onIdleError: ignore };
  const others = new Connections({ ...shared, max: 1, responseTimeoutMs: usualResponseMs });
  const connections = new Connections({ ...shared, max: 3, probe: () => others.run(probe) });
  return {
    connections,
    async close() {
      await Promise.all([connections.close(), others.close()]);
    },
  };
}

/** Turns any other error into a StartError that says in one line what is wrong with the database. */
export async function withStartErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StartError || error instanceof Problem) throw error;
    throw new StartError(`The database cannot be used: ${describeError(error)}.`);
  }
}
