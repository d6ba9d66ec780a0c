/** A service as a part of somebody else's Fastify application. */

import { requirePlainObject } from "../config/values.ts";
import { compileConfig } from "../config.ts";
import { StartError } from "../errors.ts";
import { type App, mountService } from "../http/wire/app.ts";
import { openService } from "./open-service.ts";

/** What is the application's own affair: an option that was ignored would be a trap. */
const options = [
  "host",
  "port",
  "log",
  "tls",
  "requireTls",
  "trustProxy",
  "docs",
  "drainDelayMs",
  "stopTimeoutMs",
];
const limits = ["headers", "headersTimeoutMs", "requestTimeoutMs", "keepAliveTimeoutMs"];

/**
 * Opens the service and serves it below the prefix. It is there when the application is ready, and its store is closed
 * with the application. Throws StartError for what is wrong with the configuration.
 */
export async function embed(app: App, config: Record<string, unknown>): Promise<void> {
  requireOwnOptions(config);
  // A prefix that it was given, Fastify has put before the paths of this instance already.
  const below = config.prefix === undefined ? "/api/v1" : "";
  // What is outside the prefix is not served here, so the service's own description of itself is not there.
  const content = { ...config, prefix: `${app.prefix}${below}`, docs: false };
  const { log } = app;
  const { service, drain, close } = await openService(await compileConfig(content, process.cwd()), {
    log,
    onFailure: (reason) => log.error(reason),
    isEmbedded: true,
  });
  app.addHook("preClose", async () => drain());
  app.addHook("onClose", close);
  await app.register(async (inner) => mountService(inner, service), { prefix: below });
}

function requireOwnOptions(config: Record<string, unknown>): void {
  const ofLimits = requirePlainObject(config.limits ?? {}, "limits");
  const foreign = [
    ...options.filter((name) => Object.hasOwn(config, name)),
    ...limits.filter((name) => Object.hasOwn(ofLimits, name)).map((name) => `limits.${name}`),
  ];
  if (foreign.length === 0) return;
  const why = "the Fastify application decides this, not the service inside it. Leave it out.";
  throw new StartError(foreign.map((name) => ({ path: name.split("."), text: `${name}: ${why}` })));
}
