/** The code of the configuration, as the core loads it. */
import type {
  AroundHooks,
  CheckedConfiguration,
  Core,
  Loaded,
  OpenCapability,
  OpenWriteHooks,
  ThreadWork,
} from "../../capability.ts";
import { StartError } from "../../errors.ts";
import type { ComputedWork } from "./computed/computed-work.ts";
import type { HookRunner } from "./hooks/hook-worker.ts";
import type { CodeSettings } from "./settings.ts";

/** The open code of one thread. */
export type OpenCode = Pick<
  OpenCapability,
  "writeHooks" | "overStore" | "unfinished" | "prepare" | "isFailing" | "start" | "stop"
>;

async function open(core: Core, settings: CodeSettings): Promise<OpenCode> {
  const { service } = core;
  const { log, collections } = service;
  const { limits } = service.settings;
  const opened = await openWriteHooks(settings, { limits, collections, warn: (text) => log.warn(text) });
  if (opened === undefined) return { prepare: (thread) => forgetComputed(core, thread) };
  const work = await computedWorkOf(core, settings);
  return {
    writeHooks: opened.hooks,
    ...(work && {
      overStore: work.overStore,
      unfinished: (collection) => work.incomplete.unfinished(collection),
    }),
    prepare: async (thread) => {
      await opened.ready();
      await (work?.prepare(thread) ?? forgetComputed(core, thread));
    },
    isFailing: () => opened.isFailing(),
    start: (thread) => work?.start(thread),
    stop: async () => {
      await work?.stop();
      await opened.stop();
    },
  };
}

async function computedWorkOf(core: Core, settings: CodeSettings): Promise<ComputedWork | undefined> {
  if (settings.computed.size === 0) return undefined;
  const { ComputedWork } = await import("./computed/computed-work.ts");
  return new ComputedWork(core, settings.computed, () =>
    openRunner(settings, (text) => core.service.log.warn(text)),
  );
}

/** Without computed attributes, the store must not believe that their values are still right. */
async function forgetComputed({ store, service }: Core, { works }: ThreadWork): Promise<void> {
  if (!works || !store.collections().has("_computed")) return;
  const { ComputedRecords, forgetUndeclared } = await import("./computed/computed-records.ts");
  await forgetUndeclared(new ComputedRecords(store), new Map(), service.now());
}

async function openWriteHooks(
  settings: CodeSettings,
  { limits, collections, warn }: AroundHooks,
): Promise<OpenWriteHooks | undefined> {
  if (settings.collections.size + settings.computed.size === 0) return undefined;
  const { createWriteHooks } = await import("./hooks/write-hooks.ts");
  const runner = await openRunner(settings, warn);
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

async function openRunner(settings: CodeSettings, warn: (text: string) => void): Promise<HookRunner> {
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

async function warnings(
  { computed }: CodeSettings,
  { collections }: CheckedConfiguration,
): Promise<string[]> {
  const { warningsAboutComputed } = await import("./computed/computed-warnings.ts");
  return warningsAboutComputed(computed, collections);
}

export const loaded: Loaded<CodeSettings, OpenCode> = { warnings, openWriteHooks, open };
