/** The code of the configuration, as the core loads it. */
import type {
  AroundHooks,
  Core,
  Loaded,
  Need,
  OpenCapability,
  OpenWriteHooks,
  ThreadWork,
} from "../../capability.ts";
import { StartError } from "../../errors.ts";
import type { ComputedWork } from "./computed/computed-work.ts";
import type { Consumers } from "./consumers/consumers.ts";
import { consumerEndpoints } from "./consumers/endpoints.ts";
import { consumersInStore } from "./consumers/in-store.ts";
import { consumerFamilies, metricsOfConsumers } from "./consumers/metrics.ts";
import type { ReplacedInConsumers } from "./consumers/open.ts";
import { retireAll } from "./consumers/registry.ts";
import { warningsAbout } from "./consumers/warnings.ts";
import type { HookRunner } from "./hooks/hook-worker.ts";
import { routeEndpoints } from "./routes/route-endpoints.ts";
import type { Routes } from "./routes/routes.ts";
import type { CodeSettings } from "./settings.ts";
import { CodeMeter, codeFamilies } from "./work/code-meter.ts";
import type { CodeRunner } from "./work/code-runner.ts";

/** What a test can replace. */
export type ReplacedParts = ReplacedInConsumers;

const families = { ...codeFamilies, ...consumerFamilies };

/** The open code of one thread. */
export interface OpenCode
  extends Pick<
    OpenCapability,
    | "writeHooks"
    | "overStore"
    | "unfinished"
    | "prepare"
    | "start"
    | "isFailing"
    | "stop"
    | "methods"
    | "metrics"
  > {
  readonly routes?: Routes | undefined;
  /** Absent if the configuration has none. */
  readonly consumers: Consumers | undefined;
}

async function open(
  core: Core,
  settings: CodeSettings,
  replaced: ReplacedParts | undefined,
): Promise<OpenCode> {
  const { log, collections } = core.service;
  const { limits } = core.service.settings;
  const hooks = await openWriteHooks(settings, { limits, collections, warn: (text) => log.warn(text) });
  const computed = await openComputed(core, settings);
  const meter = new CodeMeter();
  const work = await openWork(core, settings, { meter, replaced });
  const consumers = work?.consumers;
  return {
    ...(hooks && { writeHooks: hooks.hooks, isFailing: () => hooks.isFailing() }),
    ...(computed && {
      overStore: computed.overStore,
      unfinished: (collection) => computed.incomplete.unfinished(collection),
    }),
    routes: work?.routes,
    consumers,
    prepare: async (thread) => {
      await hooks?.ready();
      await (computed?.prepare(thread) ?? forgetComputed(core, thread));
      if (consumers !== undefined) await consumers.prepare(thread);
      else if (thread.works) await retireAll(core);
    },
    start: (thread) => {
      computed?.start(thread);
      consumers?.start(thread);
    },
    stop: async () => {
      await consumers?.stop();
      await work?.stop();
      await computed?.stop();
      await hooks?.stop();
    },
    methods: () => ({ wakeConsumers: () => consumers?.wake() }),
    metrics: core.isMetered ? [meter, ...(consumers ? [metricsOfConsumers(consumers)] : [])] : undefined,
  };
}

async function openComputed(core: Core, settings: CodeSettings): Promise<ComputedWork | undefined> {
  if (settings.computed.size === 0) return undefined;
  const { ComputedWork } = await import("./computed/computed-work.ts");
  return new ComputedWork(core, settings.computed, () =>
    openHookRunner(settings, (text) => core.service.log.warn(text)),
  );
}

/** Without computed attributes, the store must not believe that their values are still right. */
async function forgetComputed({ store, service }: Core, { works }: ThreadWork): Promise<void> {
  if (!works || !store.collections().has("_computed")) return;
  const { ComputedRecords, forgetUndeclared } = await import("./computed/computed-records.ts");
  await forgetUndeclared(new ComputedRecords(store), new Map(), service.now());
}

/** What runs functions that may wait. */
interface OpenWork {
  readonly routes: Routes | undefined;
  readonly consumers: Consumers | undefined;
  stop(): Promise<void>;
}

/** Opens what runs functions that may wait; `undefined` if the configuration has none. */
async function openWork(
  core: Core,
  settings: CodeSettings,
  { meter, replaced }: { meter: CodeMeter; replaced: ReplacedParts | undefined },
): Promise<OpenWork | undefined> {
  const { routes, consumers } = settings;
  if (routes.size === 0 && consumers.length === 0) return undefined;
  const { openRunner } = await import("./work/open-runner.ts");
  const runner = await openRunner(core, settings, meter);
  return {
    routes: routes.size === 0 ? undefined : await openRoutes(core, settings, runner),
    consumers: consumers.length === 0 ? undefined : await openConsumers(core, settings, { runner, replaced }),
    stop: () => runner.stop(),
  };
}

async function openRoutes({ service }: Core, { routes }: CodeSettings, runner: CodeRunner): Promise<Routes> {
  const { Routes } = await import("./routes/routes.ts");
  return Routes.open(routes, { service, runner });
}

async function openConsumers(
  core: Core,
  settings: CodeSettings,
  parts: { runner: CodeRunner; replaced: ReplacedParts | undefined },
): Promise<Consumers | undefined> {
  const { openConsumers } = await import("./consumers/open.ts");
  return openConsumers(core, settings, parts);
}

async function openWriteHooks(
  settings: CodeSettings,
  { limits, collections, warn }: AroundHooks,
): Promise<OpenWriteHooks | undefined> {
  if (settings.collections.size + settings.computed.size === 0) return undefined;
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

export const loaded: Loaded<CodeSettings, OpenCode, ReplacedParts> = {
  endpoints: consumerEndpoints,
  endpointsFor: routeEndpoints,
  families,
  inStore: consumersInStore,
  needs: [schemas],
  warnings: async ({ computed, consumers }, { access, collections }) => {
    const { warningsAboutComputed } = await import("./computed/computed-warnings.ts");
    return [...warningsAboutComputed(computed, collections), ...warningsAbout(consumers, access)];
  },
  openWriteHooks,
  open,
};
