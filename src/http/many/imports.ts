/**
 * Imports many resources into one collection while the service runs: all of them, or nothing.
 *
 * While the content arrives, the service checks each resource and puts it into a temporary file. Only then it opens the
 * transaction, so that other writes do not wait for a slow client. Memory stays flat, whatever the size of the content.
 */
import { authorFor } from "../../access/principal.ts";
import { Problem, StartError } from "../../errors.ts";
import { Additions } from "../../import/additions.ts";
import type { ColumnSummary } from "../../import/cells.ts";
import { readInput } from "../../import/input.ts";
import { type ImportResult, ItemReader, Tally } from "../../import/item-reader.ts";
import type { Advice, Items } from "../../import/items.ts";
import { Spool } from "../../import/spool.ts";
import { sameTypesIn } from "../../import/stored-types.ts";
import { recordOf } from "../../store/port/record.ts";
import type { Load } from "../../store/port/store.ts";
import { createTimedPauses } from "../admission/turns.ts";
import type { Import } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { jsonLimits } from "../protocol/content.ts";
import { type HttpRequest, jsonType } from "../protocol/message.ts";
import { type Clock, type Data, findCollection, type Service, type Surface } from "../service.ts";
import { requireFewCollections } from "../writes/create.ts";
import { hooksForMany } from "../writes/hooks.ts";
import { type ImportReport, reportOf } from "./import-report.ts";

/** The memory that counts for an import: its content and its batches are never in memory as a whole. */
const heldBytes = 4_194_304;

/** The resources of an import can be this many times larger than its content, because CSV does not repeat the names of attributes. */
const maxGrowth = 4;

/**
 * The most resources of an import that is one commit, and the most characters of their texts. The writer needs less than
 * 100 ms for this many, and others wait that long.
 */
const maxAtOnce = { resources: 2_000, length: 1024 * 1024 };

/**
 * Carries out an import. Throws INVALID_IMPORT with a report, BODY_REQUIRED, CONTENT_TOO_LARGE, REFERENCE_NOT_FOUND,
 * TOO_MANY_COLLECTIONS, and the problems of receiving the content and of the store.
 */
export async function performImport(
  service: Data & Surface & Clock,
  operation: Import,
  request: HttpRequest,
): Promise<Result> {
  requireSupportedHeaders(request);
  if (service.readOnly)
    throw new Problem("UNAVAILABLE", "The service is read-only now. Nothing was imported. Try again later.");
  request.ticket.hold(heldBytes);
  const report = await inTurn(service, request, () => readAndWrite(service, operation, request));
  const body = JSON.stringify(report);
  return { kind: "document", document: { status: 200, type: jsonType, body } };
}

/**
 * Reads and checks the content of an import that becomes a task, and passes the resources on. Throws as `performImport`, but no
 * errors of writing.
 */
export async function readImport<T>(
  service: Data & Surface & Clock,
  operation: Import,
  request: HttpRequest,
  pass: (read: { spool: Spool; report: ImportReport }) => Promise<T>,
): Promise<T> {
  requireSupportedHeaders(request);
  request.ticket.hold(heldBytes);
  const { asked } = operation;
  return inTurn(service, request, () =>
    withContentOf(service, { operation, request, isTask: true }, async ({ reader, spool, columns }) => {
      const merged = asked.on && { changed: 0, same: 0 };
      const result = reader.resultFor(spool.count, { merged, columns });
      const report = reportOf(result, { read: reader.read, dryRun: asked.dryRun });
      if (!goesOn(asked, reader)) throw invalid(result, reader.read, report);
      return pass({ spool, report });
    }),
  );
}

/** One import at a time, so that the temporary files of several do not fill the disk together. Callers take turns. */
function inTurn<T>(service: Data, { ticket }: HttpRequest, work: () => Promise<T>): Promise<T> {
  return service.writes.run("imports", work, ticket.caller());
}

/** Throws INVALID_PARAMETER for a header that the client relies on, and that an import does not support. */
function requireSupportedHeaders({ headers }: HttpRequest): void {
  const names = ["Idempotency-Key", "If-Match", "If-None-Match", "If-Unmodified-Since"];
  const name = names.find((each) => headers[each.toLowerCase()] !== undefined);
  if (name === undefined) return;
  const detail = "is not supported by imports: leave it out";
  throw new Problem("INVALID_PARAMETER", `${name} ${detail}.`, {
    violations: [{ in: "header", name, code: "unknown", detail }],
  });
}

function readAndWrite(
  service: Data & Surface & Clock,
  operation: Import,
  request: HttpRequest,
): Promise<unknown> {
  const { asked } = operation;
  return withContentOf(service, { operation, request, isTask: false }, async (work) => {
    const { reader, columns } = work;
    const added = goesOn(asked, reader) ? await writeAll(service, work) : nothing;
    const merged = added.merged ?? (asked.on && { changed: 0, same: 0 });
    const result = reader.resultFor(added.count, { merged, reused: added.reused, columns });
    const report = reportOf(result, { read: reader.read, dryRun: asked.dryRun });
    if (!asked.dryRun && !result.isAccepted) throw invalid(result, reader.read, report);
    return report;
  });
}

/** Whether the resources are compared with the store. Where most faults appear only then, this finds all of them at once. */
function goesOn({ dryRun, on }: Import["asked"], reader: ItemReader): boolean {
  return dryRun || on !== undefined ? !reader.isBroken : reader.isAccepted;
}

/** Reads and checks the content, and does work with it. */
async function withContentOf<T>(
  service: Data & Surface & Clock,
  { operation, request, isTask }: Pick<Work, "operation" | "request" | "isTask">,
  work: (read: Work) => Promise<T>,
): Promise<T> {
  const { collection, asked } = operation;
  const limits = jsonLimits(service.settings.limits);
  const spool = new Spool();
  const { skipInvalid, on, id, ids, skipHooks = false } = asked;
  const kindOf = (name: string) => findCollection(service, name)?.idKind ?? "uuid";
  const context = { id: request.id, caller: operation.caller, now: service.now(), skipHooks };
  const hooks = hooksForMany(service, collection, context);
  const reader = new ItemReader(collection, { limits, skipInvalid, on, id, ids, kindOf, hooks }, spool);
  try {
    const read: Work = { operation, request, isTask, reader, spool };
    await readAll(service, read).catch(throwProblem);
    return await work(read);
  } finally {
    spool.close();
  }
}

interface Work {
  operation: Import;
  request: HttpRequest;
  isTask: boolean;
  reader: ItemReader;
  spool: Spool;
  /** The columns of CSV, when it was read. */
  columns?: readonly ColumnSummary[];
}

/** Reads and checks the content. */
async function readAll(service: Data & Surface, work: Work): Promise<void> {
  const { isTask, reader, spool } = work;
  const { importBytes } = service.settings.limits;
  const pause = createTimedPauses();
  for await (const { items } of itemsOf(service, work)) {
    for await (const row of reader.rows(items)) {
      spool.add(row);
      if (spool.length > maxGrowth * importBytes) throw tooManyResources(maxGrowth * importBytes);
      if (!isTask && (spool.count > maxAtOnce.resources || spool.length > maxAtOnce.length))
        throw tooManyAtOnce();
      await pause();
    }
    await pause(); // without an item, the content can take time too
  }
}

function itemsOf(service: Data & Surface, work: Work): AsyncIterable<Items> {
  const { limits } = service.settings;
  const {
    operation: { collection, asked },
    request: { content },
  } = work;
  const { form, delimiter, at, id, types, convert, timezone } = asked;
  const { bodyBytes: maxBytes, importBytes } = limits;
  const input = withContent(content.chunks(importBytes), form === undefined || form === "array");
  const rules = {
    collection,
    maxBytes,
    limits: jsonLimits(limits),
    id,
    types,
    convert,
    timezone,
    advice,
    requireSameTypes: sameTypesIn(service.store, collection.name),
    onColumns: (columns: readonly ColumnSummary[]) => {
      work.columns = columns;
    },
  };
  return readInput(input, { form, delimiter, at }, rules);
}

const advice: Advice = (option, value) => `add ?${option}=${encodeURIComponent(value)} to the path`;

/** NDJSON and CSV can be empty: then they have no resources. */
async function* withContent(input: AsyncIterable<Buffer>, isRequired: boolean): AsyncGenerator<Buffer> {
  let isEmpty = true;
  for await (const chunk of input) {
    isEmpty &&= chunk.length === 0;
    yield chunk;
  }
  if (isEmpty && isRequired)
    throw new Problem("BODY_REQUIRED", "The request body is missing. Send NDJSON, a JSON array or CSV.");
}

/** How many resources were added or changed. */
type Written = Pick<Additions, "count" | "merged" | "reused">;

const nothing: Written = { count: 0, merged: undefined, reused: new Tally(0) };

/** Adds the resources to the store in one transaction. Returns how many it has added. */
async function writeAll(service: Data & Surface & Clock, work: Work): Promise<Written> {
  const { collection } = work.operation;
  // What has expired would hold unique values, and the import could refer to it.
  await service.expired.sweep([collection.name, ...collection.references.map((each) => each.collection)]);
  if (service.store.collections().has(collection.name)) return addAll(service, work, collection.name);
  // As in a create: nothing else creates a collection before this import has ended.
  return service.writes.run("collections", () => {
    const isNew = requireFewCollections(service, collection);
    return addAll(service, work, isNew ? recordOf(collection) : collection.name);
  });
}

async function addAll(
  service: Data & Clock,
  { operation, request, reader, spool }: Work,
  into: Parameters<Service["load"]>[0],
): Promise<Written> {
  const { asked, caller, collection } = operation;
  const gone = new AbortController();
  const stop = () => gone.abort(clientWentAway());
  request.socket.once("close", stop);
  if (request.socket.destroyed) stop();
  let load: Load | undefined;
  try {
    const principal = authorFor(caller.principal) ?? null;
    load = await service.load(into, { principal, length: spool.length });
    const additions = new Additions(load, reader, {
      on: asked.on,
      mirroredIn: (name) => service.participants.get(name)?.mirrored,
      ...(collection.expires !== undefined && { isOver: isOverNow(service, collection.name) }),
    });
    for (const rows of spool.batches({ haveId: true })) {
      gone.signal.throwIfAborted();
      await additions.start(rows);
    }
    await additions.finish(spool, gone.signal);
    gone.signal.throwIfAborted();
    if (asked.dryRun) await load.tryOut();
    else if (reader.isAccepted) await load.finish();
    else await load.cancel();
    return additions;
  } catch (error) {
    await load?.cancel().catch(() => {}); // the first error is the one to report
    throw error;
  } finally {
    request.socket.off("close", stop);
  }
}

/** All resources of an import expire as of the same time. */
function isOverNow({ expired, now }: Data & Clock, collection: string): (text: string) => boolean {
  const at = now();
  return (text) => expired.isOver(collection, text, at);
}

function clientWentAway(): Problem {
  return new Problem("INVALID_REQUEST", "The connection closed before the import was complete.");
}

function tooManyResources(maxLength: number): Problem {
  return new Problem(
    "CONTENT_TOO_LARGE",
    `The resources of the import are larger than ${maxLength} bytes as JSON. Send several smaller imports.`,
  );
}

function tooManyAtOnce(): Problem {
  return new Problem(
    "CONTENT_TOO_LARGE",
    `An import in one commit can have at most ${maxAtOnce.resources} resources with together ${maxAtOnce.length} characters. Nothing was imported. Send it with the header "Prefer: respond-async", and it becomes a task.`,
  );
}

function invalid(result: ImportResult, read: number, report: unknown): Problem {
  const { count } = result.invalid;
  const detail = result.isBroken
    ? "Nothing was imported: the rest of the body cannot be read. Correct it at the place of the last error."
    : `Nothing was imported: ${count} of ${read} resources ${count === 1 ? "is" : "are"} invalid. Correct them, or import the rest with ?skipInvalid=true.`;
  return new Problem("INVALID_IMPORT", detail, { report });
}

/** The reader throws errors of the input as a whole as errors for the command line. */
function throwProblem(error: unknown): never {
  throw error instanceof StartError ? new Problem("INVALID_IMPORT", error.message) : error;
}
