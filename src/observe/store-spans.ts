/** Spans of what requests do in the store, with the database conventions (https://opentelemetry.io/docs/specs/semconv/database/). */
import {
  type Attributes,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { Problem } from "../errors.ts";
import type { Commit } from "../store/port/commit.ts";
import { type Store, withMethods } from "../store/port/store.ts";
import type { Origins } from "./origins.ts";

/** What the spans of a store need. */
export interface StoreTracing {
  tracer: Tracer;
  origins: Origins;
  storeKind: string;
}

/** The same store. What happens in the span of a request has a span of its own. Work in the background has none. */
export function tracedStore(store: Store, tracing: StoreTracing): Store {
  const { origins } = tracing;
  const span = <T>(operation: string, collection: string | undefined, work: () => T, more?: Attributes): T =>
    inSpan(tracing, { operation, collection, more }, work);
  const committed = async (commit: Commit, run: Store["commit"]) => {
    const origin = trace.getActiveSpan();
    const { length } = commit.changes;
    const more = length > 1 ? { "db.operation.batch.size": length } : {};
    const results = await span("commit", collectionOf(commit), () => run(commit), more);
    if (origin?.isRecording())
      for (const [n, { sequence }] of results.entries()) {
        const collection = commit.changes[n]?.key.collection;
        if (collection !== undefined) origins.note({ collection, sequence }, origin.spanContext());
      }
    return results;
  };
  return withMethods(store, {
    read: (key) => span("read", key.collection, () => store.read(key)),
    list: (query) => span("list", query.collection, () => store.list(query)),
    referring: (query) => span("referring", query.collection, () => store.referring(query)),
    figures: (query) => span("figures", query.collection, () => store.figures(query)),
    count: (collection) => span("count", collection, () => store.count(collection)),
    sizes: (collections) => span("sizes", undefined, () => store.sizes(collections)),
    receipt: (...args) => span("receipt", undefined, () => store.receipt(...args)),
    changesAfter: (...args) => span("changesAfter", args[0], () => store.changesAfter(...args)),
    deleteAfter: (...args) => span("deleteAfter", args[0].collection, () => store.deleteAfter(...args)),
    changesOf: (...args) => span("changesOf", args[0].collection, () => store.changesOf(...args)),
    version: (...args) => span("version", args[0].collection, () => store.version(...args)),
    versionAt: (...args) => span("versionAt", args[0].collection, () => store.versionAt(...args)),
    commit: (commit) => committed(commit, (each) => store.commit(each)),
    exclusively: (names, work) =>
      span("exclusively", undefined, () =>
        store.exclusively(names, (run) => work((commit) => committed(commit, run))),
      ),
  });
}

/** The collection of a commit, if it has only one. */
function collectionOf({ changes }: Commit): string | undefined {
  const [first] = changes;
  return changes.every(({ key }) => key.collection === first?.key.collection)
    ? first?.key.collection
    : undefined;
}

interface Work {
  operation: string;
  collection: string | undefined;
  more: Attributes | undefined;
}

const systems: Readonly<Record<string, string>> = { sqlite: "sqlite", postgres: "postgresql" };

function inSpan<T>(
  { tracer, storeKind }: StoreTracing,
  { operation, collection, more }: Work,
  work: () => T,
): T {
  const around = context.active();
  // Background work, and streams whose request has ended, would make traces without an end.
  if (trace.getSpan(around)?.isRecording() !== true) return work();
  const attributes = {
    "db.system.name": systems[storeKind] ?? storeKind,
    "db.operation.name": operation,
    ...(collection !== undefined && { "db.collection.name": collection }),
    ...more,
  };
  const name = collection === undefined ? operation : `${operation} ${collection}`;
  const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, around);
  return context.with(trace.setSpan(around, span), () => {
    try {
      const result = work();
      if (!(result instanceof Promise)) {
        span.end();
        return result;
      }
      return result.then(
        (value: unknown) => {
          span.end();
          return value;
        },
        (error: unknown) => fail(span, error),
      ) as T;
    } catch (error) {
      return fail(span, error);
    }
  });
}

/** A refusal, such as that of an old version, is no error of the store. Messages can contain data, so they are left out. */
function fail(span: Span, error: unknown): never {
  const isProblem = error instanceof Problem;
  span.setAttribute("error.type", isProblem ? error.code : error instanceof Error ? error.name : "_OTHER");
  if (!isProblem || error.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
  throw error;
}
