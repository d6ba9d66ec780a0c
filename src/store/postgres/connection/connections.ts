/** Connections to the database: single statements and transactions on whichever is free. */
import { connect } from "node:net";
import { setTimeout as pass } from "node:timers/promises";
import pg from "pg";
import { describeError, Exhausted, failureOf, isWorthRepeating } from "./failures.ts";
import { watchDatabase } from "./watchdog.ts";

/** A row: texts as the database writes them, or null. */
export type Row = readonly (string | null)[];

/** A statement and its values. */
export interface Statement {
  sql: string;
  values?: readonly unknown[];
}

/** What a statement gave. */
export interface Outcome {
  rows: readonly Row[];
  /** How many rows it changed or gave. */
  count: number;
  /** What was done, such as `COMMIT`. */
  command: string;
}

/** Runs statements on one connection. They may be sent without waiting for those before. */
export interface Connection {
  /** `answerMs`: how long the answer is waited for. @default as for all */
  run(statement: Statement, answerMs?: number): Promise<Outcome>;
  /** Runs several statements without values. */
  runAll(sql: string): Promise<void>;
  /** Asks the server to end what is under way, and gives the connection up. */
  cancel(): void;
}

/** How connections are kept. */
export interface ConnectionsOptions {
  url: string;
  /** How many there may be at once. */
  max: number;
  /** How long a free or new one is waited for, in milliseconds. */
  waitMs: number;
  /** How long an answer is waited for, in milliseconds; afterwards the connection is given up. */
  answerMs?: number;
  /** Succeeds where the database answers; asked while a connection is in use whose answers may take as long as they take. */
  probe?(): Promise<unknown>;
  /** Told of what goes wrong with a connection that nobody uses. */
  onIdleError(reason: string): void;
}

/** After so long without a byte the system asks whether the other side is still there, in milliseconds. */
const keepAliveMs = 10_000;

/** How often a statement is sent that others are in the way of. */
const maxTries = 10;

const cancelWaitMs = 2_000;

/** How long an orderly end is waited for: of connections that nobody uses, and of all, in milliseconds. */
const closeWaitMs = { idle: 1_000, all: 5_000 };

const asText = { getTypeParser: () => (value: string) => value };

/** A few connections, opened when they are needed. */
export class Connections {
  readonly #pool: pg.Pool;
  readonly #max: number;
  readonly #probe: (() => Promise<unknown>) | undefined;
  readonly #idle = new Set<pg.PoolClient>();
  readonly #lent = new Set<pg.PoolClient>();

  constructor({ url, max, waitMs, answerMs, probe, onIdleError }: ConnectionsOptions) {
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: "holdfast",
      max,
      connectionTimeoutMillis: waitMs,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      pipeline: true,
      types: asText as unknown as pg.CustomTypesConfig,
      ...(answerMs === undefined ? {} : { query_timeout: answerMs }),
    });
    this.#max = max;
    this.#probe = probe;
    this.#pool.on("error", (error) => onIdleError(describeError(error)));
    this.#pool.on("remove", (client) => this.#idle.delete(client as pg.PoolClient));
  }

  /** Runs one statement; again where others were in the way, as they are where transactions are isolated more than ours need. */
  async run(statement: Statement): Promise<Outcome> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.use((connection) => connection.run(statement));
      } catch (error) {
        if (!isWorthRepeating(error) || tries === maxTries) throw error;
        await pass(Math.random() * 5 * tries);
      }
    }
  }

  /** Lends a connection. It is only used again where it is known to be in order. */
  async use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    this.#idle.delete(client);
    this.#lent.add(client);
    client.on("error", ignore); // the waiting statement gets the error
    const unwatch = this.#probe && watchDatabase(this.#probe, () => streamOf(client).destroy());
    let isSound = false;
    try {
      const result = await work(connectionOf(client));
      isSound = isAtRest(client);
      return result;
    } catch (error) {
      const isLost = isOfConnection(error);
      isSound = isAtRest(client) && !isLost;
      // What one connection was lost by, the others most likely have met too: nobody should have to find out again.
      if (isLost) giveUp(this.#idle);
      throw error;
    } finally {
      unwatch?.();
      client.off("error", ignore);
      this.#lent.delete(client);
      if (isSound) this.#idle.add(client);
      client.release(!isSound);
    }
  }

  /** Lets go of all connections once they are free; what is not free in time, and what does not answer, is just dropped. */
  async close(): Promise<void> {
    const timers = [
      setTimeout(() => giveUp(this.#idle), closeWaitMs.idle),
      setTimeout(() => giveUp(this.#lent), closeWaitMs.all),
    ];
    await this.#pool.end();
    for (const timer of timers) clearTimeout(timer);
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      for (;;) {
        const client = await this.#pool.connect();
        if (!streamOf(client).destroyed) return client;
        client.release(true); // given up, and the pool has not heard of it yet
      }
    } catch (error) {
      const { totalCount, idleCount } = this.#pool;
      throw totalCount >= this.#max && idleCount === 0 ? new Exhausted(error) : error;
    }
  }
}

function giveUp(clients: ReadonlySet<pg.PoolClient>): void {
  for (const client of clients) streamOf(client).destroy();
}

function ignore(): void {}

/** Whether the error is one of the connection itself, or of a server that is not the right one any more. */
function isOfConnection(error: unknown): boolean {
  return ["lost", "readOnly"].includes(failureOf(error));
}

/** Whether nothing is under way on a connection, as far as the server has told. */
function isAtRest(client: pg.PoolClient): boolean {
  return client.getTransactionStatus() === "I";
}

function connectionOf(client: pg.PoolClient): Connection {
  return {
    async run({ sql, values = [] }, answerMs) {
      const query = { text: sql, values: [...values], rowMode: "array" } as const;
      const timed = answerMs === undefined ? query : { ...query, query_timeout: answerMs };
      const { rows, rowCount, command } = await client.query<string[]>(timed).catch(rethrow);
      return { rows, count: rowCount ?? 0, command };
    },
    async runAll(sql) {
      await client.query(sql).catch(rethrow);
    },
    cancel: () => cancel(client as pg.PoolClient & Cancellable),
  };
}

/** What the server adds to its message quotes contents, such as the value that was there already; and errors are logged. */
function rethrow(error: unknown): never {
  if (error instanceof pg.DatabaseError) {
    error.detail = undefined;
    error.where = undefined;
    error.internalQuery = undefined;
  }
  throw error;
}

function streamOf(client: pg.PoolClient): Cancellable["connection"]["stream"] {
  return (client as pg.PoolClient & Cancellable).connection.stream;
}

/** What a client of the driver has beside what its types tell of. */
interface Cancellable {
  host: string;
  port: number;
  processID: number | null;
  secretKey: number | null;
  connection: { stream: { destroyed: boolean; destroy(): void } };
}

/** https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS */
const cancelCode = 80_877_102;

/** The request goes over a connection of its own, to which nobody answers. */
function cancel({ host, port, processID, secretKey, connection }: Cancellable): void {
  connection.stream.destroy();
  if (processID === null || secretKey === null) return;
  const message = Buffer.alloc(16);
  for (const [n, part] of [16, cancelCode, processID, secretKey].entries()) message.writeInt32BE(part, n * 4);
  const socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on("error", ignore); // then the deadline ends the statement
  socket.setTimeout(cancelWaitMs, () => socket.destroy());
  socket.end(message);
}

/** Asks whether the database answers. */
export const probe: Statement = { sql: "select 1" };
