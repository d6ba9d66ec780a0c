/** Applications with the service as a plugin. */
import { readdir, readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type FastifyInstance, fastify } from "fastify";
import { type EmbeddedConfig, type HookCaller, holdfast } from "../../src/index.ts";
import { makeFolder } from "../folder.ts";

interface Embedded {
  app: FastifyInstance;
  origin: string;
}

export type Prepare = (app: FastifyInstance) => void;

/** Starts an application, prepared before or after it registers the plugin. */
export async function start(
  t: TestContext,
  config: EmbeddedConfig,
  prepare: Prepare = () => {},
  place: "before" | "after" = "before",
): Promise<Embedded> {
  const folder = makeFolder();
  const app = fastify();
  t.after(() => app.close());
  if (place === "before") prepare(app);
  app.register(holdfast, { store: join(folder, "store.db"), ...config });
  if (place === "after") prepare(app);
  return { app, origin: await app.listen({ host: "127.0.0.1", port: 0 }) };
}

export const json = { "content-type": "application/json" };

export const post = (url: string, content: unknown, headers: Record<string, string> = json) =>
  fetch(url, { method: "POST", headers, body: JSON.stringify(content) });

/** People who sign in, and collections that need them. */
export const usersConfig: EmbeddedConfig = {
  collections: {
    users: { access: { read: "authenticated" } },
    notes: { access: { read: "public", write: "authenticated" } },
  },
  auth: { keys: true, users: { collection: "users", signUp: "open" }, administrators: { role: "ops" } },
};

/** An application in which people sign in. */
export interface EmbeddedUsers {
  origin: string;
  port: number;
  /** The texts of the mails. */
  mails(): Promise<string[]>;
  /** The hook of the application gives it the method and path of a request, and its caller. A test sets it. */
  hook: { run(request: string, caller: HookCaller | undefined): void };
  logged: string[];
}

/** Starts an application in which people sign in. */
export async function startWithUsers(
  t: TestContext,
  more: EmbeddedConfig = {},
  host = "127.0.0.1",
  outer = "",
): Promise<EmbeddedUsers> {
  const store = join(makeFolder(), "store.db");
  const logged: string[] = [];
  const app = fastify({ logger: { stream: { write: (line: string) => void logged.push(line) } } });
  t.after(() => app.close());
  const hook: EmbeddedUsers["hook"] = { run() {} };
  app.addHook("preHandler", async ({ method, url, caller }) => hook.run(`${method} ${url}`, caller));
  app.register(async (inner) => inner.register(holdfast, { ...usersConfig, store, ...more }), {
    prefix: outer,
  });
  await app.listen({ host, port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const folder = `${store}.mail`;
  const mails = async () =>
    Promise.all((await readdir(folder).catch(() => [])).map((name) => readFile(join(folder, name), "utf8")));
  return { origin: `http://127.0.0.1:${port}`, port, mails, hook, logged };
}
