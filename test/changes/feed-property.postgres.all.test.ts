/**
 * The property of the feed: each subscriber, with any view and any cuts of the connection, gets exactly the events that the
 * history of the resources says, in order for each resource; and a list with the events after it is the final list.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { StoreAddress } from "../../src/store/open.ts";
import { claimsAt, createPair, settingsFor, tokenOf } from "../access/issuer.ts";
import { makeFolder } from "../folder.ts";
import { type CloudEvent, linkOf, sinceOf } from "../http/follow.ts";
import { type Service, startService } from "../http/service.ts";
import { openDatabase } from "../postgres/databases.ts";
import { randomOf, seed } from "../seed.ts";
import { machineTime } from "../until.ts";
import { type Choose, followToEnd } from "./follower.ts";

const runs = Number(process.env.HOLDFAST_TEST_RUNS ?? 15);
/** The number of cases that run at the same time, each on its own two collections. */
const lanes = 4;

const pair = createPair("EdDSA");
const headersOf = (sub: string, roles: string[]) => ({
  authorization: `Bearer ${tokenOf(pair, claimsAt(machineTime() + 3_600_000, { sub, roles, iat: 0, nbf: 0 }))}`,
});
/** Sees everything. */
const writer = headersOf("hans", ["hr"]);
/** Sees open resources, and not their `secret`. */
const reader = headersOf("ada", []);

type Data = { state: "open" | "draft"; n: number; secret?: string; mark?: string };
type Resource = Data & { id: string };

/** One filter of a view, in the request and as the test reads it. */
interface View {
  query: string;
  headers: Record<string, string>;
  isSeen(resource: Resource): boolean;
  /** Whether the rule matches: without the filter. */
  maySee(resource: Resource): boolean;
  shown(resource: Resource): Record<string, unknown>;
}

const filters: readonly [query: string, isSeen: (resource: Resource) => boolean][] = [
  ["", () => true],
  ["n:gte=2", ({ n }) => n >= 2],
  ["state=open", ({ state }) => state === "open"],
  ["n:in=1,2", ({ n }) => n === 1 || n === 2],
  [
    `filter=${encodeURIComponent('{"or":[{"n":2},{"state":"draft"}]}')}`,
    ({ n, state }) => n === 2 || state === "draft",
  ],
];

function viewOf(choose: Choose, hasFilter = true): View {
  const [query, matches] = filters[hasFilter ? choose(filters.length) : 0] as (typeof filters)[number];
  const isReader = choose(2) === 0;
  const fields = choose(3) === 0;
  const maySee = ({ state }: Resource) => !isReader || state === "open";
  return {
    query: [query, fields ? "fields=n" : ""].filter(Boolean).join("&"),
    headers: isReader ? reader : writer,
    isSeen: (resource) => matches(resource) && maySee(resource),
    maySee,
    shown: ({ id, ...data }) => {
      if (fields) return { id, n: data.n };
      const { secret, ...others } = data;
      return { id, ...others, ...(isReader || secret === undefined ? {} : { secret }) };
    },
  };
}

/** A store and its services. */
interface Place {
  services: readonly Service[];
  stop(): Promise<void>;
}

async function open(kind: StoreAddress["kind"]): Promise<Place> {
  const folder = makeFolder();
  const database = kind === "postgres" ? await openDatabase() : undefined;
  const store: StoreAddress = database
    ? { kind: "postgres", url: database.url }
    : { kind: "sqlite", path: join(folder, "store.db") };
  const rules = { read: [{ role: "hr" }, { where: { state: "open" } }], write: { role: "hr" } };
  const collection = { access: rules, attributes: { secret: { roles: ["hr"] } } };
  const names = Array.from({ length: lanes }, (_, n) => [`a${n}`, `b${n}`]).flat();
  const options = {
    store,
    auth: { keys: false, jwt: settingsFor([pair]) },
    collections: Object.fromEntries(names.map((name) => [name, collection])),
    // The followers and the model run in this process, too.
    isWatched: false,
    limits: { streams: 10_000, streamsPerCaller: 10_000 },
  };
  const services = [await startService(options)];
  if (kind === "postgres") services.push(await startService(options)); // the other one has made the tables
  return {
    services,
    async stop() {
      for (const service of services) await service.stop();
      await database?.release();
    },
  };
}

/** One version of a resource. */
interface Version {
  version: number;
  text: Resource | undefined;
}

/** A case: writers, followers, and the check against the history. */
class Case {
  readonly #origins: readonly string[];
  readonly #choose: Choose;
  readonly #names: readonly string[];
  /** The version of each resource when the case began, 0 for none. */
  readonly #begin = new Map<string, number>();
  readonly #paths = new Set<string>();
  readonly #marks = new Map<string, string>();

  constructor(origins: readonly string[], names: readonly string[], choose: Choose) {
    this.#origins = origins;
    this.#names = names;
    this.#choose = choose;
  }

  async run(): Promise<number> {
    for (const name of this.#names) await this.#readBegin(name);
    const since = new Map<string, string>();
    for (const name of [...this.#names, ""]) since.set(name, await this.#now(name));
    const writing = Promise.all([this.#write(), this.#write(), this.#write()]).then(() => this.#mark());
    const following = [
      ...this.#names.flatMap((name) => [0, 1].map(() => this.#follow(name, since.get(name) ?? ""))),
      this.#followAll(since.get("") ?? ""),
      ...this.#names.map((name) => this.#handOver(name)),
    ];
    const [, ...checks] = await Promise.all([writing, ...following]);
    const histories = await this.#histories();
    for (const check of checks) check(histories);
    await this.#tidyUp();
    return checks.length;
  }

  #origin(): string {
    return this.#origins[this.#choose(this.#origins.length)] as string;
  }

  async #send(method: string, path: string, content?: unknown, headers: Record<string, string> = writer) {
    const response = await fetch(`${this.#origin()}/api/v1/${path}`, {
      method,
      headers: { ...headers, ...(content !== undefined && { "content-type": "application/json" }) },
      ...(content !== undefined && { body: JSON.stringify(content) }),
    });
    const text = await response.text();
    assert.ok(response.status < 500, `${method} ${path}: ${response.status} ${text}`);
    return { status: response.status, headers: response.headers, text };
  }

  async #readBegin(name: string): Promise<void> {
    for (const { id } of JSON.parse((await this.#send("GET", `${name}?limit=100`)).text) as Resource[]) {
      const path = `${name}/${id}`;
      const { headers } = await this.#send("GET", path);
      this.#begin.set(path, Number(headers.get("etag")?.slice(1, -1)));
      this.#paths.add(path);
    }
  }

  async #now(name: string): Promise<string> {
    const path = name === "" ? `_events?collection=${this.#names}&since=now` : `${name}/_events?since=now`;
    const { headers } = await this.#send("GET", path);
    return sinceOf(linkOf({ headers: { link: headers.get("link") ?? "" } }, "next"));
  }

  #data(): Data {
    const state = this.#choose(2) === 0 ? "open" : "draft";
    const secret = this.#choose(3) === 0 ? { secret: `s${this.#choose(9)}` } : {};
    return { state, n: this.#choose(4), ...secret };
  }

  async #write(): Promise<void> {
    for (let left = 2 + this.#choose(6); left > 0; left--) {
      if (this.#choose(4) === 0) await this.#writeBatch();
      else await this.#writeOne();
    }
  }

  #somePath(): string | undefined {
    return [...this.#paths][this.#choose(this.#paths.size)];
  }

  #name(): string {
    return this.#names[this.#choose(this.#names.length)] as string;
  }

  async #writeOne(): Promise<void> {
    const path = this.#somePath();
    const kind = this.#choose(6);
    if (path === undefined || kind < 2) {
      const name = this.#name();
      const { status, headers, text } = await this.#send("POST", name, this.#data());
      assert.equal(status, 201, text);
      this.#paths.add(`${name}/${headers.get("location")?.split("/").at(-1)}`);
    } else if (kind === 2) await this.#send("DELETE", path);
    else if (kind === 3) await this.#send("PUT", path, { id: path.split("/")[1], ...this.#data() });
    else if (kind === 4) await this.#send("PATCH", path, { n: this.#choose(4) });
    else {
      const again = { ...writer, "if-none-match": "*" }; // creates it if it is deleted
      await this.#send("PUT", path, { id: path.split("/")[1], ...this.#data() }, again);
    }
  }

  async #writeBatch(): Promise<void> {
    const operations: object[] = [];
    for (let left = 2 + this.#choose(3); left > 0; left--) {
      const path = this.#somePath();
      if (path === undefined || this.#choose(2) === 0)
        operations.push({ method: "POST", path: `/${this.#name()}`, body: this.#data() });
      else operations.push({ method: "PATCH", path: `/${path}`, body: { n: this.#choose(4) } });
    }
    const { status, text } = await this.#send("POST", "_batch", { operations });
    if (status !== 200) return; // one of them is deleted, so nothing happened
    for (const { status: own, headers } of (JSON.parse(text) as { results: Result[] }).results) {
      const location = Object.entries(headers).find(([name]) => name.toLowerCase() === "location")?.[1];
      if (own === 201 && location !== undefined) this.#paths.add(location.slice("/api/v1/".length));
    }
  }

  /** The last change of each collection, which every follower sees. The followers know its id before. */
  async #mark(): Promise<void> {
    for (const name of this.#names) {
      const { headers } = await this.#send("POST", name, { state: "open", n: 3, mark: "last" });
      const id = String(headers.get("location")?.split("/").at(-1));
      this.#paths.add(`${name}/${id}`);
      this.#marks.set(name, id);
      await this.#send("PATCH", `${name}/${id}`, { n: 2 });
    }
  }

  #isOver(names: readonly string[]) {
    return (events: ReadonlyMap<string, CloudEvent>) =>
      names.every((name) => {
        const id = this.#marks.get(name);
        return (
          id !== undefined && [...events.values()].some((event) => event.subject === id && event.data.n === 2)
        );
      });
  }

  async #followWith(view: View, target: { path: string; since: string; names: readonly string[] }) {
    const form = this.#choose(2) === 0 ? "stream" : "pages";
    const limit = 1 + this.#choose(6);
    const { path, since, names } = target;
    const { headers } = view;
    const origins = this.#origins;
    const choose = this.#choose;
    return followToEnd({ origins, headers, path, since, form, limit, choose, isOver: this.#isOver(names) });
  }

  async #follow(name: string, since: string) {
    const view = viewOf(this.#choose);
    const path = `/api/v1/${name}/_events${view.query === "" ? "" : `?${view.query}`}`;
    const events = await this.#followWith(view, { path, since, names: [name] });
    return (histories: Histories) => this.#compare(events, view, [name], histories);
  }

  async #followAll(since: string) {
    const view = viewOf(this.#choose, false);
    const path = `/api/v1/_events?collection=${this.#names}${view.query === "" ? "" : `&${view.query}`}`;
    const events = await this.#followWith(view, { path, since, names: this.#names });
    return (histories: Histories) => this.#compare(events, view, this.#names, histories);
  }

  /** The events are those that the history says, for each resource in order, and no others. */
  #compare(events: CloudEvent[], view: View, names: readonly string[], histories: Histories): void {
    const bySubject = Map.groupBy(
      events,
      ({ source, subject }) => `${source.slice("/api/v1/".length)}/${subject}`,
    );
    for (const [path, versions] of histories) {
      if (!names.includes(path.split("/")[0] as string)) continue;
      const seen = (bySubject.get(path) ?? []).map(({ type, version, data }) => ({ type, version, data }));
      const hasCome = new Set(seen.map(({ version }) => version));
      const expected = expectedOf(path, versions, view, this.#begin.get(path) ?? 0);
      assert.deepEqual(
        seen,
        expected
          .filter(({ event, canBeLeftOut }) => !canBeLeftOut || hasCome.has(event.version))
          .map(({ event }) => event),
        path,
      );
      bySubject.delete(path);
    }
    assert.deepEqual([...bySubject.keys()], [], "events of other resources");
  }

  /** Lists page by page at some time, then follows the link of the first page. */
  async #handOver(name: string) {
    const view = viewOf(this.#choose);
    for (let left = this.#choose(8); left > 0; left--) await this.#send("GET", `${name}?limit=1`);
    const found = new Map<string, Record<string, unknown>>();
    let next: string | undefined = `/api/v1/${name}?limit=${1 + this.#choose(4)}&${view.query}`;
    let monitor: string | undefined;
    while (next !== undefined) {
      const page = await this.#send("GET", next.slice("/api/v1/".length), undefined, view.headers);
      for (const resource of JSON.parse(page.text) as Resource[]) found.set(resource.id, resource);
      const link = { headers: { link: page.headers.get("link") ?? "" } };
      monitor ??= linkOf(link, "monitor");
      next = link.headers.link.includes('rel="next"') ? linkOf(link, "next") : undefined;
    }
    const [path = "", since = ""] = (monitor ?? "").split(/[?&]since=/);
    // The first page can be older than the mark on a later one, so changes can be missing in the list.
    const isOver = found.get(this.#marks.get(name) ?? "")?.n === 2;
    const events = isOver
      ? await this.#eventsSoFar(view, path, since)
      : await this.#followWith(view, { path, since, names: [name] });
    for (const { type, subject = "", data } of events) {
      if (type.endsWith(".deleted")) found.delete(subject);
      else found.set(subject, data);
    }
    return (histories: Histories) => {
      const final = [...histories].flatMap(([at, versions]) => {
        const text = versions.at(-1)?.text;
        return at.startsWith(`${name}/`) && text !== undefined && view.isSeen(text) ? [view.shown(text)] : [];
      });
      const order = (one: Record<string, unknown>, other: Record<string, unknown>) =>
        String(one.id) < String(other.id) ? -1 : 1;
      assert.deepEqual([...found.values()].sort(order), final.sort(order), "list and events");
    };
  }

  /** The events up to now. */
  async #eventsSoFar(view: View, path: string, since: string): Promise<CloudEvent[]> {
    const events: CloudEvent[] = [];
    for (let next = `${path}${path.includes("?") ? "&" : "?"}since=${since}`; ; ) {
      const page = await this.#send("GET", next.slice("/api/v1/".length), undefined, view.headers);
      const found = JSON.parse(page.text) as CloudEvent[];
      if (found.length === 0) return events;
      events.push(...found);
      next = linkOf({ headers: { link: page.headers.get("link") ?? "" } }, "next");
    }
  }

  /** All versions of all resources, read one by one. */
  async #histories(): Promise<Histories> {
    const histories: Histories = new Map();
    for (const path of this.#paths) {
      const { text } = await this.#send("GET", `${path}/_changes?limit=100`);
      const changes = JSON.parse(text) as { version: number; kind: string }[];
      const versions = await Promise.all(
        changes.reverse().map(async ({ version, kind }) => {
          if (kind === "deleted") return { version, text: undefined };
          const found = await this.#send("GET", `${path}?version=${version}`);
          return { version, text: JSON.parse(found.text) as Resource };
        }),
      );
      histories.set(path, versions);
    }
    return histories;
  }

  /** Leaves a few resources to the next case. */
  async #tidyUp(): Promise<void> {
    for (const path of [...this.#paths].slice(3)) await this.#send("DELETE", path);
  }
}

interface Result {
  status: number;
  headers: Record<string, string>;
}

type Histories = Map<string, readonly Version[]>;

/**
 * The events of a resource. If a later version is withdrawn from the view before an event is sent, it is left out, unless the resource left
 * the view at this change by the rule. Then it comes whatever the filter says, so that the filter does not tell what was withdrawn.
 */
function expectedOf(path: string, versions: readonly Version[], view: View, begin: number) {
  const [name = "", id = ""] = path.split("/");
  let before: Resource | undefined;
  return versions.flatMap(({ version, text }, n) => {
    const was = before !== undefined && view.isSeen(before);
    const is = text !== undefined && view.isSeen(text);
    const hasLeft = before !== undefined && view.maySee(before) && (text === undefined || !view.maySee(text));
    before = text;
    if (version <= begin || (!was && !is && !hasLeft)) return [];
    const kind = is ? (was ? "updated" : "created") : "deleted";
    const data = is && text !== undefined ? view.shown(text) : { id };
    const isWithdrawn = versions
      .slice(n)
      .some((later) => later.text !== undefined && !view.maySee(later.text));
    const event = { type: `${name}.${kind}`, version: String(version), data };
    const isByFilter = was || is;
    if (!isWithdrawn) return isByFilter ? [{ event, canBeLeftOut: false }] : [];
    return [{ event, canBeLeftOut: !(isByFilter && hasLeft) }];
  });
}

for (const kind of ["sqlite", "postgres"] as const) {
  const instances = kind === "sqlite" ? "one instance" : "two instances";
  test(`${runs} cases on ${kind} with ${instances}: nothing is missing, nothing is too much (HOLDFAST_TEST_SEED=${seed})`, async (t) => {
    const { services, stop } = await open(kind);
    t.after(stop);
    const origins = services.map(({ origin }) => origin);
    let done = 0;
    let failed = false;
    const runLane = async (lane: number) => {
      for (let n = lane; n < runs && !failed; n += lanes) {
        const random = randomOf(seed + n);
        const choose: Choose = (below) => Math.floor(random() * below);
        try {
          const subscribers = await new Case(origins, [`a${lane}`, `b${lane}`], choose).run();
          done += subscribers;
        } catch (error) {
          failed = true;
          throw new Error(`case ${n} of HOLDFAST_TEST_SEED=${seed}`, { cause: error });
        }
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(lane)));
    t.diagnostic(`${done} subscribers`);
  });
}
