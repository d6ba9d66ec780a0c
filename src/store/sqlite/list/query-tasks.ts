/**
 * The work of a query thread: lists that no index supports. `node:sqlite` cannot interrupt a running statement from outside. Each statement
 * therefore calls a function for each resource that it reads, and this function throws to end the statement.
 */
import type { DatabaseSync } from "node:sqlite";
import { Problem } from "../../../errors.ts";
import type { NumberedCollection } from "../../core/catalogue.ts";
import { pageOfDeleted } from "../../core/deleted-page.ts";
import { type CurrentQuery, pageAt } from "../../core/past-page.ts";
import { type PageQuery, queryInMemory } from "../../core/related.ts";
import { HistoryMissing } from "../../port/change-log.ts";
import type { Page } from "../../port/page.ts";
import { ask, type Plan, runNow } from "../../sql/plans.ts";
import { describeError, failureOf } from "../file/failures.ts";
import { damagedNumber } from "../file/wide-integers.ts";
import { Reader } from "../read/reader.ts";
import { collectionSizes } from "../read/sizes.ts";
import { PlanRunner, storePlans } from "../sqlite-dialect.ts";
import type { QueryAnswer, QueryRequest, QueryTask, QueryTasks } from "./query-threads.ts";
import { interruptFunction } from "./sqlite-lists.ts";

/** Ends a statement after its deadline, or if its query is cancelled. */
class Interrupted extends Error {}

/** When the present query ends. */
class Bound {
  #deadline = Number.POSITIVE_INFINITY;
  #cancelled: Int32Array | undefined;

  set({ deadline, cancelled }: Pick<QueryRequest, "deadline" | "cancelled">): void {
    this.#deadline = deadline;
    this.#cancelled = cancelled && new Int32Array(cancelled);
  }

  /** Throws Interrupted. */
  check(): 1 {
    const isCancelled = this.#cancelled !== undefined && Atomics.load(this.#cancelled, 0) !== 0;
    if (isCancelled || Date.now() > this.#deadline) throw new Interrupted();
    return 1;
  }
}

/** What the tasks read with. */
interface Readers {
  database: DatabaseSync;
  reader: Reader;
  plans: PlanRunner;
  bound: Bound;
}

/** Returns a function that answers queries on a connection. */
export function createQueryTasks(database: DatabaseSync): (request: QueryRequest) => QueryAnswer {
  const bound = new Bound();
  database.function(interruptFunction, { deterministic: false }, () => bound.check());
  const tasks = tasksOf({ database, reader: new Reader(database), plans: new PlanRunner(database), bound });
  return (request) => {
    bound.set(request);
    return answer(tasks, request.asked);
  };
}

function readPage(readers: Readers, collection: NumberedCollection, query: PageQuery): Page {
  const { reader } = readers;
  const { at, deleted } = query;
  if (at === undefined && deleted === undefined) return reader.page(collection, query, true);
  const { idKind } = collection;
  const reads = { idKind, history: storePlans.historyOf(collection), targetsOf: storePlans.targetsOf };
  const asked = queryInMemory(query);
  return reader.inSnapshot(() =>
    runInterruptibly(
      readers,
      deleted === undefined
        ? pageAt({ ...asked, at: at as number }, { ...reads, current })
        : pageOfDeleted({ ...asked, deleted }, reads),
    ),
  );

  // biome-ignore lint/correctness/useYield: the page is read at once
  function* current(each: CurrentQuery): Plan<Page> {
    return reader.page(collection, each, true);
  }
}

function runInterruptibly<T>({ plans, bound }: Readers, plan: Plan<T>): T {
  return runNow(plan, (statement) => {
    bound.check();
    return plans.run(ask(statement));
  });
}

function tasksOf(readers: Readers): QueryTasks {
  const { database, reader, bound } = readers;
  return {
    page: (collection, query) => readPage(readers, collection, query),
    figures: (collection, query) => reader.figures(collection, query),
    referring: (collection, query) => reader.referring(collection, query, true),
    sizes: (numbers, maxMs) => collectionSizes(database, numbers, { onPage: () => bound.check(), maxMs }),
  };
}

function answer(tasks: QueryTasks, { name, args }: QueryTask): QueryAnswer {
  try {
    return { kind: "read", result: (tasks[name] as (...values: unknown[]) => unknown)(...args) };
  } catch (thrown) {
    const error = damagedNumber(thrown);
    if (error instanceof Interrupted) return { kind: "interrupted" };
    if (error instanceof HistoryMissing) return { kind: "missing", since: error.since };
    if (error instanceof Problem) return { kind: "refused", code: error.code, detail: error.message };
    return { kind: "failed", failure: failureOf(error), reason: describeError(error) };
  }
}
