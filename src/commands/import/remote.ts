/** Sends the input of an import to a running service. */
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { about } from "../../about.ts";
import { StartError, type Violation } from "../../errors.ts";
import type { ImportReport } from "../../http/imports/report.ts";
import type { Counted, ImportResult } from "../../import/item-reader.ts";
import type { InputLocation } from "../../import/items.ts";
import { isObject, tryParse } from "../../json/values.ts";
import type { ImportFormat } from "../import-command.ts";
import { reasonOf } from "../running-service.ts";

// An `import` would load all of the modules at each start.
const { request: httpRequest } = process.getBuiltinModule("node:http");
const { request: httpsRequest } = process.getBuiltinModule("node:https");

/** A running service, and how to import into it. */
export interface Remote {
  /** The address of the collections. */
  base: URL;
  token: string | undefined;
  dryRun: boolean;
  skipInvalid: boolean;
}

/** The input of an import. */
export interface RemoteInput {
  collection: string;
  format: ImportFormat;
  stream: Readable;
  /** The size in bytes, if it is known. */
  size: number | undefined;
  signal: AbortSignal;
  /** Receives how many bytes were sent. */
  onProgress(bytes: number): void;
}

/** Some proxies never ask for the body. Then it is sent after this time, in milliseconds. */
const maxContinueMs = 1_000;

/** Imports into a running service. Throws StartError if the service refuses the import without a report, and the reason of the signal. */
export async function importRemotely(remote: Remote, input: RemoteInput): Promise<ImportResult> {
  const url = addressOf(remote, input);
  const { status, text } = await exchange(url, remote, input);
  const body = tryParse(text);
  const report = status === 200 || !isObject(body) ? body : body.report;
  if (isReport(report)) return resultOf(report, input.collection, remote);
  throw new StartError(refusalOf(url, { status, body, token: remote.token }));
}

function addressOf({ base, dryRun, skipInvalid }: Remote, { collection, format }: RemoteInput): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, "")}/${encodeURIComponent(collection)}/_import`;
  if (dryRun) url.searchParams.set("dryRun", "true");
  if (skipInvalid) url.searchParams.set("skipInvalid", "true");
  if (format.kind === "csv" && format.delimiter !== ",")
    url.searchParams.set("delimiter", format.delimiter === "\t" ? "tab" : format.delimiter);
  return url;
}

async function exchange(
  url: URL,
  { token }: Remote,
  input: RemoteInput,
): Promise<{ status: number; text: string }> {
  const [type, stream] = await typed(input);
  const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    method: "POST",
    agent: false,
    headers: {
      accept: "application/json",
      "content-type": type,
      "user-agent": `Holdfast/${about.version}`,
      expect: "100-continue", // so that a refusal comes before the body is sent
      ...(input.size === undefined ? {} : { "content-length": input.size }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  const interrupt = () => request.destroy();
  input.signal.addEventListener("abort", interrupt, { once: true });
  let isSent = false;
  try {
    const responding = responseTo(request);
    const sending = send(request, stream, { responding, onProgress: input.onProgress }).then(() => {
      isSent = true;
    });
    sending.catch(() => {}); // a failure to send also ends the wait for the response
    const message = await Promise.race([responding, sending.then(() => responding)]);
    return { status: message.statusCode ?? 0, text: await textOf(message) };
  } catch (error) {
    input.signal.throwIfAborted();
    if (error instanceof StartError) throw error;
    throw new StartError(
      isSent
        ? `The connection to ${url.origin} broke before the response arrived. Check whether the import took effect before you repeat it.`
        : `${url.origin} cannot be reached: ${reasonOf(error)}. Nothing was imported.`,
    );
  } finally {
    input.signal.removeEventListener("abort", interrupt);
    request.destroy();
  }
}

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
  });
  response.catch(() => {}); // the code that waits for it gets the error too
  return response;
}

async function send(
  request: ClientRequest,
  stream: AsyncIterable<Buffer>,
  { responding, onProgress }: { responding: Promise<unknown>; onProgress: (bytes: number) => void },
): Promise<void> {
  request.flushHeaders();
  const waited = new AbortController();
  const asked = new Promise((resolve) => request.once("continue", resolve));
  const over = delay(maxContinueMs, undefined, { signal: waited.signal }).catch(() => {});
  const hasResponse = responding.then(() => true);
  const isRefused = await Promise.race([asked, over, hasResponse]).finally(() => waited.abort());
  if (isRefused === true) return;
  let bytes = 0;
  await pipeline(async function* () {
    for await (const chunk of stream) {
      bytes += chunk.length;
      onProgress(bytes);
      yield chunk;
    }
  }, request);
}

/** The media type of the input, and the input. A JSON array and NDJSON have different types: the first byte that is not blank decides. */
async function typed({ format, stream }: RemoteInput): Promise<[type: string, input: AsyncIterable<Buffer>]> {
  if (format.kind === "csv") return ["text/csv", stream];
  const chunks: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let start: string | undefined;
  while (start === undefined) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    first.push(value);
    start = /\S/.exec(value.toString("latin1"))?.[0];
  }
  async function* all() {
    yield* first;
    for (;;) {
      const { done, value } = await chunks.next();
      if (done === true) return;
      yield value;
    }
  }
  return [start === "[" ? "application/json" : "application/x-ndjson", all()];
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function isReport(body: unknown): body is ImportReport {
  return isObject(body) && Array.isArray(body.errors) && typeof body.resources === "number";
}

/** The report of the service as the result of an import here. */
function resultOf(
  report: ImportReport,
  collection: string,
  { skipInvalid }: Pick<Remote, "skipInvalid">,
): ImportResult {
  const { errors, invalid, resources, complete } = report;
  const isAccepted = complete && (invalid === 0 || skipInvalid);
  return {
    collection,
    isAccepted,
    isBroken: !complete,
    imported: isAccepted ? report.imported : resources - invalid,
    invalid: { count: invalid, first: () => byPlace(errors) },
    withoutId: tallyOf(report.generatedIds),
    unfitId: tallyOf(report.replacedIds),
    numberId: tallyOf(report.stringIds),
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

function refusalOf(
  url: URL,
  { status, body, token }: { status: number; body: unknown; token: string | undefined },
): string {
  if (status === 401)
    return token === undefined
      ? `${url.origin} requires a credential. Give one with --token or HOLDFAST_TOKEN.`
      : `${url.origin} refused the credential.`;
  if (status === 404)
    return `${url.origin}${url.pathname} does not exist. Check the address and the name of the collection, and give the credential of an administrator with --token or HOLDFAST_TOKEN.`;
  const detail = isObject(body) && typeof body.detail === "string" ? body.detail : "";
  if (detail === "") return `${url.origin} responded with status ${status}. Nothing was imported.`;
  return detail.replace(
    /add \?delimiter=(\S+) to the path/,
    (_, option: string) => `add --delimiter ${JSON.stringify(decodeURIComponent(option))}`,
  );
}
