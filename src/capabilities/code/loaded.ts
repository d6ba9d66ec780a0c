/** The code of the configuration, as the core loads it. */
import type { Core, Loaded, OpenCapability, ThreadWork } from "../../capability.ts";
import type { WriteHooks } from "../../collection/write-hooks.ts";
import { StartError } from "../../errors.ts";
import type { ComputedWork } from "./computed/computed-work.ts";
import type { HookRunner } from "./hooks/hook-worker.ts";
import type { CodeSettings } from "./settings.ts";

/** The open code of one thread. */
export interface OpenCode extends OpenCapability {
  readonly writeHooks: WriteHooks | undefined;
}

async function open(core: Core, settings: CodeSettings): Promise<OpenCode> {
  const { collections, computed } = settings;
  if (collections.size + computed.size === 0)
    return { writeHooks: undefined, prepare: (thread) => forgetComputed(core, thread) };
  const { createWriteHooks } = await import("./hooks/write-hooks.ts");
  const runner = await runnerFor(core, settings);
  const work = await computedWorkOf(core, settings);
  return {
    writeHooks: createWriteHooks(settings, {
      runner,
      limits: core.service.settings.limits,
      relationsOf: (name) => core.service.collections().get(name)?.relations ?? new Map(),
    }),
    ...(work && {
      overStore: work.overStore,
      unfinished: (collection) => work.incomplete.unfinished(collection),
    }),
    prepare: async (thread) => {
      await runner.ready().catch((error: Error) => {
        throw new StartError(`The code of the configuration cannot be loaded: ${error.message}`);
      });
      await (work?.prepare(thread) ?? forgetComputed(core, thread));
    },
    start: (thread) => work?.start(thread),
    stop: async () => {
      await work?.stop();
      await runner.stop();
    },
  };
}

async function computedWorkOf(core: Core, settings: CodeSettings): Promise<ComputedWork | undefined> {
  if (settings.computed.size === 0) return undefined;
  const { ComputedWork } = await import("./computed/computed-work.ts");
  return new ComputedWork(core, settings.computed, () => runnerFor(core, settings));
}

/** Without computed attributes, the store must not believe that their values are still right. */
async function forgetComputed({ store, service }: Core, { works }: ThreadWork): Promise<void> {
  if (!works || !store.collections().has("_computed")) return;
  const { ComputedRecords, forgetUndeclared } = await import("./computed/computed-records.ts");
  await forgetUndeclared(new ComputedRecords(store), new Map(), service.now());
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

export const loaded: Loaded<CodeSettings, OpenCode> = { open };
