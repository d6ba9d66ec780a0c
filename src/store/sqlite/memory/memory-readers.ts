/**
 * What a store in memory reads with: the connection of its writer. The transaction of an import stays open over many requests, and reads
 * must not see it. So they use a copy of the state before it. A scan reads from a copy too, because it must not see later commits.
 */
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { createQueryTasks } from "../list/query-tasks.ts";
import { Reader } from "../read/reader.ts";
import { PlanRunner } from "../sqlite-dialect.ts";
import type { Readers } from "../sqlite-driver.ts";

type QueryTasks = ReturnType<typeof createQueryTasks>;

/** One connection, with what reads from it. */
class OneConnection implements Readers {
  readonly database: DatabaseSync;
  readonly reader: Reader;
  readonly plans: PlanRunner;
  #queries: QueryTasks | undefined;

  constructor(...[database, pages]: ConstructorParameters<typeof Reader>) {
    this.database = database;
    this.reader = new Reader(database, pages);
    this.plans = new PlanRunner(database);
  }

  get queries(): QueryTasks {
    this.#queries ??= createQueryTasks(this.database);
    return this.#queries;
  }
}

/** What a store in memory reads with at present. */
export class MemoryReaders implements Readers {
  readonly #writing: OneConnection;
  /** The state before the import that is in progress. */
  #copy: OneConnection | undefined;

  /** `database` is the connection of the writer. */
  constructor(...[database, pages]: ConstructorParameters<typeof Reader>) {
    this.#writing = new OneConnection(database, pages);
  }

  get reader(): Reader {
    return this.#current.reader;
  }

  get plans(): PlanRunner {
    return this.#current.plans;
  }

  get queries(): QueryTasks {
    return this.#current.queries;
  }

  /** From now on, reads use a copy of the present state. */
  copy(): void {
    this.#copy ??= new OneConnection(this.openCopy());
  }

  /** From now on, reads see what the writer has committed. */
  dropCopy(): void {
    this.#copy?.database.close();
    this.#copy = undefined;
  }

  /** Opens a connection to a copy of what reads see at present. The copy ends with the connection. */
  openCopy(): DatabaseSync {
    const { database } = this.#current;
    const name = `file:/${randomUUID()}?vfs=memdb`; // all threads of the process share these names
    const copy = new DatabaseSync(name, { limits: { attach: 0 } });
    database.limits.attach = 1; // VACUUM INTO attaches its target
    try {
      database.prepare("vacuum into ?").run(name);
    } catch (error) {
      copy.close();
      throw error;
    } finally {
      database.limits.attach = 0;
    }
    return copy;
  }

  get #current(): OneConnection {
    return this.#copy ?? this.#writing;
  }
}
