/** Reads the whole content of a store through a service. */
import type { Contents } from "./release.ts";

/** A response. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** Sends a request to a service. `path` is below the prefix. */
export type Ask = (
  method: string,
  path: string,
  content?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

/** Creates a client of a service with an API key. */
export function askAt(base: string, key: string): Ask {
  return async (method, path, content, headers = {}) => {
    const type = content === undefined ? {} : { "content-type": "application/json" };
    const answer = await fetch(`${base}${path}`, {
      method,
      // The ETag of a compressed response has another ending.
      headers: { authorization: `Bearer ${key}`, "accept-encoding": "identity", ...type, ...headers },
      ...(content === undefined
        ? {}
        : { body: typeof content === "string" ? content : JSON.stringify(content) }),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
}

/** Reads all lists, and each resource with its history. */
export async function look(ask: Ask, { ids, lists }: Pick<Contents, "ids" | "lists">): Promise<object> {
  const found: Record<string, unknown> = {};
  for (const path of lists) {
    const { status, headers, text } = await ask("GET", path);
    found[path] = { status, total: headers.get("x-total-count"), text };
  }
  for (const [collection, all] of Object.entries(ids))
    for (const id of all) found[`/${collection}/${id}`] = await lookAt(ask, `/${collection}/${id}`);
  return found;
}

async function lookAt(ask: Ask, path: string): Promise<object> {
  const now = await state(ask, path);
  const { text } = await ask("GET", `${path}/_changes`);
  const changes = JSON.parse(text) as { version: number }[];
  const versions: Record<number, object> = {};
  for (const { version } of changes) versions[version] = await state(ask, `${path}?version=${version}`);
  return { now, changes, versions };
}

async function state(ask: Ask, path: string): Promise<object> {
  const { status, headers, text } = await ask("GET", path);
  return { status, etag: headers.get("etag"), lastModified: headers.get("last-modified"), text };
}
