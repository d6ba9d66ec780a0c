/**
 * Tries the examples of a page: starts a service with the configuration and the resources of the page, sends its requests in their order,
 * and compares the responses with those that the page shows. `shown.ts` says which block is what.
 */
import assert from "node:assert/strict";
import { STATUS_CODES } from "node:http";
import { type Answer, jsonType, type Service, type ServiceOptions, startService } from "../http/service.ts";
import { Made } from "./made.ts";
import { type Page, readPage } from "./markdown.ts";
import { type Alone, configurationOf, type Example, examplesOf, resourcesOf } from "./shown.ts";

/** How the examples of a page are tried. */
export interface Trial {
  /** The options of the service beside the configuration of the page. `clock` counts one minute for each example. */
  service?: ServiceOptions | ((clock: () => number) => ServiceOptions);
  /** The collection of the resources that the page shows as `ndjson`. */
  resourcesOf?: string;
  /** What must happen before the first request. */
  prepare?: (service: Service) => Promise<unknown>;
  /** What must happen before requests that begin like this. */
  beforeRequest?: Readonly<Record<string, (service: Service, path: string) => Promise<unknown>>>;
  requests?: readonly Alone[];
  /** The bodies that show only some members of the object: those of errors, or all. @default none */
  abridged?: "errors" | "all";
  /** Whether the times in the responses are those of the machine, which no page can know. @default false */
  hasTimes?: boolean;
  /** The requests that the page's own tests send. */
  except?: RegExp;
}

/** The time of the first example on the clock of `Trial.service`. */
const firstTime = Date.UTC(2026, 0, 31, 8);

/** The examples of pages that continue each other, and the service that receives them. */
export class Examples {
  /** In the order in which they must be tried. */
  readonly list: readonly Example[];
  readonly #pages: readonly Page[];
  readonly #trial: Trial;
  readonly #made: Made;
  readonly #services: Service[] = [];
  #clock = firstTime;

  constructor(files: readonly string[], trial: Trial) {
    this.#pages = files.map(readPage);
    this.#trial = trial;
    this.#made = new Made(trial.hasTimes ?? false);
    this.list = this.#pages
      .flatMap((page) => examplesOf(page, trial.requests))
      .filter(({ request }) => !trial.except?.test(request.first));
  }

  /** The service, after `start`. */
  get service(): Service {
    const [service] = this.#services;
    assert.ok(service);
    return service;
  }

  /** Starts a service with what the pages say, and with these limits. */
  async start(limits: Example["limits"] = {}): Promise<Service> {
    const { service: given = {}, resourcesOf: collection = "", prepare } = this.#trial;
    const options = typeof given === "function" ? given(() => this.#clock) : given;
    const service = await startService({ ...configurationOf(this.#pages), limits, ...options });
    this.#services.push(service);
    for (const resource of resourcesOf(this.#pages)) await service.create(collection, resource);
    await prepare?.(service);
    return service;
  }

  /** Stops all services. */
  async stop(): Promise<void> {
    for (const service of this.#services) await service.stop();
  }

  /** Sends the request of an example. Throws unless the response is the one that the page shows. */
  async try(example: Example): Promise<void> {
    this.#clock = firstTime + this.list.indexOf(example) * 60_000;
    const isOther = Object.keys(example.limits).length > 0;
    const service = isOther ? await this.start(example.limits) : this.service;
    compare(example, await this.send(example, service), this.#trial.abridged, this.#made);
  }

  /** Sends the request of an example. */
  async send({ request: { first, headers, body } }: Example, service = this.service): Promise<Answer> {
    const [method = "", path = ""] = this.#made.inRequest(first).split(" ");
    const preparations = Object.entries(this.#trial.beforeRequest ?? {});
    await preparations.find(([start]) => first.startsWith(start))?.[1](service, path);
    const request = { method, path, headers: { ...headers } };
    if (body === undefined) return service.send(request, { mayFail: true });
    request.headers["Content-Type"] ??= jsonType;
    return service.send({ ...request, body: this.#made.inRequest(body) }, { mayFail: true });
  }
}

/** Throws unless the response is the one that the page shows. Without one, it must be a success. */
function compare({ response }: Example, answer: Answer, abridged: Trial["abridged"], made: Made): void {
  const { first, headers, body } = response ?? { first: "", headers: {}, body: undefined };
  assertStatus(first, body, answer);
  for (const [name, value] of Object.entries(headers)) {
    const given = answer.headers[name.toLowerCase()] ?? "";
    assert.equal(given, made.inResponse(value, given), name);
  }
  const isJson = /[/+]json\b/.test(answer.headers["content-type"] ?? "");
  if (body !== undefined && isJson)
    assertJson(
      JSON.parse(body),
      answer,
      abridged === "all" || (abridged === "errors" && answer.status >= 400),
      made,
    );
  else if (body !== undefined) assert.equal(answer.text.replaceAll("\r\n", "\n"), `${body}\n`);
}

/** A body that stands alone is that of a success, unless it is an error. */
function assertStatus(first: string, body = "{}", { status, text }: Answer): void {
  const real = first.includes(" ") ? `${status} ${STATUS_CODES[status]}` : String(status);
  if (first !== "") assert.equal(real, first, text);
  else {
    const shown = JSON.parse(body) as { status?: number; detail?: string };
    const isRight = shown.detail === undefined ? status < 300 : status >= 400 && status < 500;
    assert.ok(shown.status === undefined ? isRight : status === shown.status, `${status} ${text}`);
  }
}

function assertJson(shown: object, { text, json }: Answer, isAbridged: boolean, made: Made): void {
  const given = isAbridged ? JSON.stringify(membersOf(json as object, Object.keys(shown))) : text;
  const expected = made.inResponse(JSON.stringify(shown), given);
  assert.deepEqual(JSON.parse(given), JSON.parse(expected));
  assert.equal(given, expected); // the members have the same order
}

function membersOf(value: object, names: readonly string[]): object {
  const members = new Map(Object.entries(value));
  return Object.fromEntries(
    names.filter((name) => members.has(name)).map((name) => [name, members.get(name)]),
  );
}
