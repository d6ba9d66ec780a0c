/** A service on a database, in this process, and requests to it. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { loadConfig } from "../../src/config.ts";
import { startServer } from "../../src/server.ts";
import type { StoreOptions } from "../../src/store/open.ts";
import { databaseFor } from "./databases.ts";
import { type FaultProxy, startProxy } from "./fault-proxy.ts";

/** The text of a commit as sent, which does not match "read committed". */
export const commit = "commit\0";

/** An answer, and how long it took. */
export interface Answer {
  status: number;
  code: string | undefined;
  content: unknown;
  headers: Headers;
  ms: number;
}

/** A service that can be asked. */
export interface Served {
  ask(method: string, path: string, content?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** A service with a proxy before its database. */
export interface Faulty extends Served {
  /** The database itself, without the proxy. */
  database: { url: string };
  proxy: FaultProxy;
}

/** Starts a service on the database at `url`, until the test has ended. */
export async function serveOn(
  t: TestContext,
  url: string,
  { storeOptions = {}, ...flags }: { storeOptions?: StoreOptions } & Record<string, unknown> = {},
): Promise<Served> {
  const config = await loadConfig({
    flags: { store: url, port: "0", ...flags },
    env: {},
    cwd: import.meta.dirname,
  });
  const { origin, stop } = await startServer(config, { storeOptions });
  t.after(stop);
  return clientOf(origin);
}

/** Starts a service that reaches the database through a proxy. */
export async function serveFaulty(t: TestContext, flags: Record<string, unknown> = {}): Promise<Faulty> {
  const database = { url: await databaseFor(t) };
  const proxy = await startProxy(Number(new URL(database.url).port));
  t.after(() => proxy.close());
  return { ...(await serveOn(t, proxy.urlOf(database.url), flags)), database, proxy };
}

/** A client of the service at an origin. Paths that begin with a collection are below the prefix. */
export function clientOf(origin: string): Served {
  return {
    async ask(method, path, content, headers = {}) {
      const begun = performance.now();
      const url = path.startsWith("/") ? `${origin}${path}` : `${origin}/api/v1/${path}`;
      const type = content === undefined ? {} : { "content-type": "application/json" };
      const answer = await fetch(url, {
        method,
        headers: { ...type, ...headers },
        ...(content === undefined ? {} : { body: JSON.stringify(content) }),
      });
      const text = await answer.text();
      const body = text === "" ? undefined : (JSON.parse(text) as { code?: string });
      const ms = performance.now() - begun;
      return { status: answer.status, code: body?.code, content: body, headers: answer.headers, ms };
    },
  };
}

/** Creates a resource, and returns its id. */
export async function create(
  { ask }: Served,
  n: number,
  headers: Record<string, string> = {},
): Promise<string> {
  const answer = await ask("POST", "things", { n }, headers);
  assert.equal(answer.status, 201, JSON.stringify(answer.content));
  return (answer.content as { id: string }).id;
}

/** The number of resources in a list. If a list exceeds its time limit on a busy machine, requests it again. */
export async function countOf({ ask }: Served, path: string): Promise<number> {
  for (;;) {
    const { code, content } = await ask("GET", `${path}${path.includes("?") ? "&" : "?"}limit=100`);
    if (code === "QUERY_TOO_EXPENSIVE") continue;
    assert.ok(Array.isArray(content), JSON.stringify(content));
    return content.length;
  }
}
