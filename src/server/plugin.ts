/** The Fastify plugin: runs the service inside another Fastify application. `index.ts` exports it. */
import { requirePlainObject } from "../config/option-values.ts";
import { compileConfig } from "../config.ts";
import { StartError } from "../errors.ts";
import { isLoopback } from "../http/protocol/hosts.ts";
import type { Service } from "../http/service.ts";
import { type App, mountService } from "../http/wire/mount.ts";
import { withoutHistory } from "../store/port/options.ts";
import { announcedBy, openService } from "./open-service.ts";

/** The options that the application decides. The plugin refuses them. */
export const applicationOptions = [
  "host",
  "port",
  "threads",
  "log",
  "metrics",
  "tls",
  "requireTls",
  "trustProxy",
  "console",
  "drainDelayMs",
  "stopTimeoutMs",
] as const;

/** The options in `limits` that the application decides. */
export const applicationLimits = [
  "headers",
  "headersTimeoutMs",
  "requestTimeoutMs",
  "keepAliveTimeoutMs",
] as const;

/** A service that an application serves. */
export interface EmbeddedService {
  /** The plugin of Fastify that serves it. */
  serve: (app: App) => Promise<void>;
  /** Closes the store. */
  close: () => Promise<void>;
}

/** Opens the service for an application. Throws StartError if the configuration has faults. */
export async function openFor(app: App, config: Record<string, unknown>): Promise<EmbeddedService> {
  refuseApplicationOptions(config);
  // Fastify already puts a prefix that the application passes before the paths of this plugin.
  const below = config.prefix === undefined ? "/api/v1" : "";
  // The page at the root belongs to the application, so it has no console.
  const content = { ...config, prefix: `${app.prefix}${below}`, console: false };
  const { log } = app;
  const encrypts = Boolean(app.initialConfig.https);
  const compiled = await compileConfig(content, process.cwd(), process.env, { encrypts });
  const opened = await openService(compiled, {
    log,
    onFailure: (reason) => log.error(reason),
    isEmbedded: true,
    decidedElsewhere: [...applicationOptions, ...applicationLimits.map((name) => `limits.${name}`)],
  });
  const { service, drain, endStreams, close } = opened;
  if (compiled.isLocal) followAddress(app, service);
  for (const [name, text] of Object.entries(announcedBy(opened))) log.info(`${name}: ${text}`);
  if (service.feed === undefined) log.info(`history is "none": ${withoutHistory}`);
  return {
    serve: async (plugin) => {
      plugin.addHook("preClose", async () => {
        drain();
        endStreams();
      });
      plugin.register(async (inner) => mountService(inner, service), { prefix: below });
    },
    close,
  };
}

/** The application chooses the port, and the address, which others can reach. */
function followAddress({ server, log }: App, service: Service): void {
  service.publicUrl = "http://localhost";
  server.on("listening", () => {
    const listener = server.address();
    if (listener === null || typeof listener === "string") return;
    service.publicUrl = `http://localhost:${listener.port}`;
    if (service.isForLoopback === true && !isLoopback(listener.address))
      log.warn(
        `auth.users: others can reach ${listener.address}. Without publicUrl, the service answers only requests to a loopback address of this machine.`,
      );
  });
}

function refuseApplicationOptions(config: Record<string, unknown>): void {
  const limits = requirePlainObject(config.limits ?? {}, "limits");
  const refused = [
    ...applicationOptions.filter((name) => Object.hasOwn(config, name)),
    ...applicationLimits.filter((name) => Object.hasOwn(limits, name)).map((name) => `limits.${name}`),
  ];
  if (refused.length === 0) return;
  const why = "the Fastify application decides this, not the service inside it. Leave it out.";
  throw new StartError(refused.map((name) => ({ path: name.split("."), text: `${name}: ${why}` })));
}
