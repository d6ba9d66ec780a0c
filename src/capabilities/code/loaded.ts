/** The code of the configuration, as the core loads it. */
import type { Core, Loaded, Need, OpenCapability } from "../../capability.ts";
import type { WriteHooks } from "../../collection/write-hooks.ts";
import { StartError } from "../../errors.ts";
import type { HookRunner } from "./hooks/hook-worker.ts";
import { routeEndpoints } from "./routes/route-endpoints.ts";
import type { Routes } from "./routes/routes.ts";
import type { CodeSettings } from "./settings.ts";
import type { CodeRunner } from "./work/code-runner.ts";

/** The open code of one thread. */
export interface OpenCode extends OpenCapability {
  readonly writeHooks: WriteHooks | undefined;
  readonly routes: Routes | undefined;
}

async function open(core: Core, settings: CodeSettings): Promise<OpenCode> {
  const hooks = settings.collections.size === 0 ? undefined : await openHooks(core, settings);
  const runner = settings.routes.size === 0 ? undefined : await openRunner(core, settings);
  const routes = runner && (await openRoutes(core, settings, runner));
  return {
    writeHooks: hooks?.writeHooks,
    routes,
    ...(hooks && { prepare: hooks.prepare }),
    stop: async () => {
      await runner?.stop();
      await hooks?.stop();
    },
  };
}

async function openRunner(core: Core, settings: CodeSettings): Promise<CodeRunner> {
  const { openRunner } = await import("./work/open-runner.ts");
  return openRunner(core, settings);
}

async function openRoutes({ service }: Core, { routes }: CodeSettings, runner: CodeRunner): Promise<Routes> {
  const { Routes } = await import("./routes/routes.ts");
  return Routes.open(routes, { service, runner });
}

async function openHooks(core: Core, settings: CodeSettings) {
  const { createWriteHooks } = await import("./hooks/write-hooks.ts");
  const runner = await runnerFor(core, settings);
  return {
    writeHooks: createWriteHooks(settings, {
      runner,
      limits: core.service.settings.limits,
      relationsOf: (name) => core.service.collections().get(name)?.relations ?? new Map(),
    }),
    prepare: async () => {
      await runner.ready().catch((error: Error) => {
        throw new StartError(`The code of the configuration cannot be loaded: ${error.message}`);
      });
    },
    stop: () => runner.stop(),
  };
}

async function runnerFor({ service }: Core, settings: CodeSettings): Promise<HookRunner> {
  const { module, functions, hookMs, memoryMb } = settings;
  if (module === undefined) {
    const { HereRunner } = await import("./hooks/here-runner.ts");
    return new HereRunner(functions);
  }
  const { HookWorker } = await import("./hooks/hook-worker.ts");
  const onEnd = (reason: string) => service.log.warn(`The worker of the hooks has ended: ${reason}.`);
  return new HookWorker({ module, hookMs, memoryMb, onEnd });
}

/** The schemas of routes are compiled, so that a check finds their faults. */
const schemas: Need<CodeSettings> = {
  at: [],
  require: async ({ routes }) => {
    if (routes.size > 0) await (await import("./routes/route-schemas.ts")).compileRoutes(routes);
  },
};

export const loaded: Loaded<CodeSettings, OpenCode> = {
  endpointsFor: routeEndpoints,
  needs: [schemas],
  open,
};
