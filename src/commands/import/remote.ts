/** Sends the input of an import to a running service. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import {
  type BegunImport,
  type CollectionClient,
  type ImportReport,
  type ImportTextOptions,
  type ImportType,
  NetworkError,
  ProblemError,
} from "holdfast-client";
import { StartError, type Violation } from "../../errors.ts";
import type { InputFormat } from "../../import/input.ts";
import type { Counted, ImportResult } from "../../import/item-reader.ts";
import type { InputLocation } from "../../import/items.ts";
import type { ImportTexts } from "../../import/options.ts";
import { isObject } from "../../json/values.ts";
import { clientOf, isNotJson, type RunningService, reasonOf } from "../running-service.ts";
import { withOptions } from "./import-flags.ts";

/** A running service, and how to import into it. */
export interface Remote extends RunningService {
  /** The options of the import, as they were given. */
  given: ImportTexts;
}

/** The input of an import. */
export interface RemoteInput {
  collection: string;
  format: InputFormat;
  stream: Readable;
  /** The size in bytes, if it is known. */
  size: number | undefined;
  signal: AbortSignal;
  /** Receives how many bytes were sent. */
  onProgress(bytes: number): void;
}

/** The service itself limits the time of an import. */
const timeoutMs = 2 ** 31 - 1;

/**
 * Sends an import to a running service. Returns the task that the service has made of it, or the result if it refuses the import
 * with a report. Throws StartError if the service refuses the import without a report, and the reason of the signal.
 */
export async function importRemotely(
  remote: Remote,
  input: RemoteInput,
): Promise<ImportResult | BegunImport> {
  const { dryRun, skipInvalid, skipHooks, ...named } = remote.given;
  const { collection, size, signal, onProgress } = input;
  const [type, stream] = await typed(input);
  let isSent = false;
  async function* body() {
    let bytes = 0;
    for await (const chunk of stream) {
      bytes += chunk.length;
      onProgress(bytes);
      isSent = bytes === size; // the service can have everything before this generator continues
      yield chunk;
    }
    isSent = true;
  }
  let response: Answered | undefined;
  const client = clientOf(remote, async (address, request = {}) => {
    const url = String(address);
    const headers = { ...(request.headers as Record<string, string>) };
    if (size !== undefined) headers["Content-Length"] = `${size}`; // the service then refuses a large body at once
    const answer = await post(url, { headers, signal, body: request.body as ReadableStream });
    response = { status: answer.status, url };
    return answer;
  });
  const options = {
    type,
    ...(named as Omit<ImportTextOptions, "type">), // the service checks them
    ...delimiterOf(input.format),
    dryRun: dryRun !== undefined,
    skipInvalid: skipInvalid !== undefined,
    skipHooks: skipHooks !== undefined,
    signal,
    timeoutMs,
  };
  const target = client[collection] as CollectionClient<object>;
  const sent = target.importTask(ReadableStream.from(body()), options);
  const outcome: unknown = await sent.catch((error: unknown) => error);
  signal.throwIfAborted();
  if (isBegun(outcome)) return outcome;
  const report = outcome instanceof ProblemError ? outcome.problem.report : outcome;
  if (isReport(report)) return resultOf(report, collection, remote);
  throw new StartError(refusalOf(outcome, remote, { isSent, response }));
}

/** What is known of a response. */
interface Answered {
  status: number;
  url: string;
}

/** Sends a POST request. `fetch` waits at most five minutes for a response, and an import can take longer. */
async function post(
  url: string,
  { body, ...options }: { headers: Record<string, string>; signal: AbortSignal; body: ReadableStream },
): Promise<Response> {
  const isEncrypted = url.startsWith("https:");
  const { request } = process.getBuiltinModule(isEncrypted ? "node:https" : "node:http");
  // The size of a file can change while it is sent. The service would wait for the rest, or take it for another request.
  const sending = Object.assign(request(url, { method: "POST", ...options }), { strictContentLength: true });
  const answered = once(sending, "response");
  // Before the connection is there, nothing can be sent.
  const connected = once(sending, "socket").then(
    ([socket]) => socket.connecting && once(socket, isEncrypted ? "secureConnect" : "connect"),
  );
  connected.then(() => pipeline(body, sending)).catch(() => {}); // `answered` has the error, unless the response comes first
  const [response] = (await answered) as [IncomingMessage];
  const content = await text(response);
  sending.destroy(); // the service can respond before it has the whole body
  return new Response(content === "" ? null : content, { status: response.statusCode ?? 0 });
}

/** The delimiter can come from the name of the file. */
function delimiterOf({ delimiter }: InputFormat): { delimiter?: string } {
  return delimiter === undefined ? {} : { delimiter: delimiter === "\t" ? "tab" : delimiter };
}

/** The media type of the input, and the input. A JSON array and NDJSON have different types: the first byte that is not blank decides. */
async function typed({
  format,
  stream,
}: RemoteInput): Promise<[type: ImportType, input: AsyncIterable<Buffer>]> {
  if (format.form === "csv") return ["text/csv", stream];
  const first: Buffer[] = [];
  let start: string | undefined;
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    first.push(chunk);
    start = /[^\s\u00ef\u00bb\u00bf]/.exec(chunk.toString("latin1"))?.[0]; // not a byte order mark either
    if (start !== undefined) break;
  }
  async function* all() {
    yield* first;
    yield* stream as AsyncIterable<Buffer>;
  }
  return [start === "[" ? "application/json" : "application/x-ndjson", all()];
}

function isBegun(body: unknown): body is BegunImport {
  return isObject(body) && typeof body.id === "string" && isReport(body.report);
}

function isReport(body: unknown): body is ImportReport {
  return isObject(body) && Array.isArray(body.errors) && typeof body.resources === "number";
}

/** The report of the service as the result of an import here. */
export function resultOf(
  report: ImportReport,
  collection: string,
  { given: { skipInvalid } }: Pick<Remote, "given">,
): ImportResult {
  const { errors, invalid, resources, complete, changed, same } = report;
  const isAccepted = complete && (invalid === 0 || skipInvalid !== undefined);
  return {
    collection,
    isAccepted,
    isBroken: !complete,
    imported: isAccepted ? report.imported : resources - invalid,
    merged: changed === undefined || same === undefined ? undefined : { changed, same },
    invalid: { count: invalid, first: () => byPlace(errors) },
    withoutId: tallyOf(report.generatedIds),
    unfitId: tallyOf(report.replacedIds),
    numberId: tallyOf(report.stringIds),
    reusedId: report.reusedIds && tallyOf(report.reusedIds),
    columns: report.columns,
  };
}

function tallyOf({ count, first }: ImportReport["generatedIds"]) {
  return { count, first: () => first.map(({ id = "", ...location }) => ({ location, note: id })) };
}

/** The errors of each resource together. */
function byPlace(errors: ImportReport["errors"]): Counted<readonly Violation[]>[] {
  const places = new Map<string, { location: InputLocation; note: Violation[] }>();
  for (const { line, element, ...error } of errors) {
    const location = { line, ...(element === undefined ? {} : { element }) };
    const name = JSON.stringify(location);
    const place = places.get(name) ?? { location, note: [] };
    place.note.push({ in: "body", ...error });
    places.set(name, place);
  }
  return [...places.values()];
}

/** Why the service did not import, for a failure without a report. */
function refusalOf(
  error: unknown,
  { base: { origin }, token }: Remote,
  { isSent, response }: { isSent: boolean; response: Answered | undefined },
): string {
  if (error instanceof NetworkError && !isNotJson(error))
    return isSent
      ? `The connection to ${origin} broke before the response arrived. Check whether the import took effect before you repeat it.`
      : `${origin} cannot be reached: ${reasonOf(error)}. Nothing was imported.`;
  const { status = 0, url = "" } = response ?? {};
  if (status === 401)
    return token === undefined
      ? `${origin} requires a credential. Give one with --token or HOLDFAST_TOKEN.`
      : `${origin} refused the credential.`;
  if (status === 404)
    return `${url.replace(/\?.*/, "")} does not exist. Check the address and the name of the collection, and give the credential of an administrator with --token or HOLDFAST_TOKEN.`;
  const detail = error instanceof ProblemError ? error.problem.detail : undefined;
  if (typeof detail !== "string" || detail === "")
    return `${origin} responded with status ${status}. Nothing was imported.`;
  return withOptions(detail);
}
