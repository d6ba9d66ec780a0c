/** Applications with the service as a plugin. */
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type FastifyInstance, fastify } from "fastify";
import { type EmbeddedConfig, holdfast } from "../../src/index.ts";
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
