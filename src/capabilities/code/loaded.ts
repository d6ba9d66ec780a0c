/** The code of the configuration, as the core loads it. */
import type { AroundHooks, Core, Loaded, Need, OpenCapability, OpenWriteHooks } from "../../capability.ts";
import { StartError } from "../../errors.ts";
import type { HookRunner } from "./hooks/hook-worker.ts";
import { routeEndpoints } from "./routes/route-endpoints.ts";
import type { Routes } from "./routes/routes.ts";
import type { CodeSettings } from "./settings.ts";
import { CodeMeter, codeFamilies } from "./work/code-meter.ts";

/** The open code of one thread. */
export interface OpenCode
  extends Pick<OpenCapability, "writeHooks" | "prepare" | "isFailing" | "stop" | "metrics"> {
  readonly routes?: Routes | undefined;
}

async function open(core: Core, settings: CodeSettings): Promise<OpenCode> {
  const { log, collections } = core.service;
  const { limits } = core.service.settings;
  const hooks = await openWriteHooks(settings, { limits, collections, warn: (text) => log.warn(text) });
  const meter = new CodeMeter();
  const work = await openWork(core, settings, meter);
  return {
    ...(hooks && {
      writeHooks: hooks.hooks,
      prepare: () => hooks.ready(),
      isFailing: () => hooks.isFailing(),
    }),
    routes: work?.routes,
    metrics: core.isMetered ? meter : undefined,
    stop: async () => {
      await work?.stop();
      await hooks?.stop();
    },
  };
}

/** Opens what runs functions that may wait; `undefined` if the configuration has none. */
async function openWork(core: Core, settings: CodeSettings, meter: CodeMeter) {
  if (settings.routes.size === 0) return undefined;
  const [{ openRunner }, { Routes }] = await Promise.all([
    import("./work/open-runner.ts"),
    import("./routes/routes.ts"),
  ]);
  const runner = await openRunner(core, settings, meter);
  const routes = await Routes.open(settings.routes, { service: core.service, runner });
  return { routes, stop: () => runner.stop() };
}

async function openWriteHooks(
  settings: CodeSettings,
  { limits, collections, warn }: AroundHooks,
): Promise<OpenWriteHooks | undefined> {
  if (settings.collections.size === 0) return undefined;
  const { createWriteHooks } = await import("./hooks/write-hooks.ts");
  const runner = await openHookRunner(settings, warn);
  return {
    hooks: createWriteHooks(settings, {
      runner,
      limits,
      relationsOf: (name) => collections().get(name)?.relations ?? new Map(),
    }),
    ready: () =>
      runner.ready().catch((error: Error) => {
        throw new StartError(`The code of the configuration cannot be loaded: ${error.message}`);
      }),
    isFailing: () => runner.isFailing(),
    stop: () => runner.stop(),
  };
}

async function openHookRunner(settings: CodeSettings, warn: (text: string) => void): Promise<HookRunner> {
  const { module, functions, hookMs, memoryMb } = settings;
  if (module === undefined) {
    const { HereRunner } = await import("./hooks/here-runner.ts");
    return new HereRunner(functions);
  }
  const { HookWorker } = await import("./hooks/hook-worker.ts");
  const onEnd = (reason: keyof typeof whyEnded) => warn(`The worker of the hooks ${whyEnded[reason]}.`);
  return new HookWorker({ module, hookMs, memoryMb, onEnd });
}

/** Why a worker of hooks has ended, as the log says it. */
const whyEnded = {
  time: "was ended, because a call took too long",
  memory: "has ended, because it needed too much memory",
  exit: "has ended, because the code ended it",
  throw: "has ended, because of an error that nothing handles",
  load: "cannot load the configuration",
  promise: "has ended",
  result: "has ended",
  lost: "cannot be ended, and can need more and more memory. Restart the service",
} as const;

/** The schemas of routes are compiled, so that a check finds their faults. */
const schemas: Need<CodeSettings> = {
  at: [],
  require: async ({ routes }) => {
    if (routes.size > 0) await (await import("./routes/route-schemas.ts")).compileRoutes(routes);
  },
};

export const loaded: Loaded<CodeSettings, OpenCode> = {
  endpointsFor: routeEndpoints,
  families: codeFamilies,
  needs: [schemas],
  openWriteHooks,
  open,
};
