/** The code of the configuration, as the core loads it. */
import type { Core, InStore, Loaded, OpenCapability } from "../../capability.ts";
import type { WriteHooks } from "../../collection/write-hooks.ts";
import { StartError } from "../../errors.ts";
import type { MetricsSource } from "../../observe/metrics-source.ts";
import type { Consumers } from "./consumers/consumers.ts";
import { consumerEndpoints } from "./consumers/endpoints.ts";
import { inStore as consumersInStore } from "./consumers/in-store.ts";
import { consumerFamilies, readConsumerSamples } from "./consumers/metrics.ts";
import type { ReplacedInConsumers } from "./consumers/open.ts";
import type { HookRunner } from "./hooks/hook-worker.ts";
import type { CodeSettings } from "./settings.ts";
import { openRunner } from "./work/open-runner.ts";

/** What a test can replace. */
export type ReplacedParts = ReplacedInConsumers;

/** The open code of one thread. */
export interface OpenCode extends OpenCapability {
  readonly writeHooks: WriteHooks | undefined;
  /** Absent if the configuration has none. */
  readonly consumers: Consumers | undefined;
}

const families = { ...consumerFamilies };

const inStore: InStore<CodeSettings> = { ...consumersInStore };

async function open(
  core: Core,
  settings: CodeSettings,
  replaced: ReplacedParts | undefined,
): Promise<OpenCode> {
  const hooks = await openHooks(core, settings);
  const runner = await openRunner(core, settings);
  const { openConsumers, retireConsumers } = await import("./consumers/open.ts");
  const consumers = openConsumers(core, settings, { runner, replaced });
  return {
    writeHooks: hooks?.writeHooks,
    consumers,
    prepare: async (thread) => {
      await hooks?.ready();
      if (consumers !== undefined) await consumers.prepare(thread);
      else if (thread.works) await retireConsumers(core);
    },
    start: (thread) => consumers?.start(thread),
    stop: async () => {
      await consumers?.stop();
      await runner.stop();
      await hooks?.stop();
    },
    methods: () => ({ wakeConsumers: () => consumers?.wake() }),
    metrics: core.isMetered ? metricsOf(consumers) : undefined,
  };
}

/** The hooks of a thread, and their worker. */
interface OpenHooks extends Pick<HookRunner, "stop"> {
  readonly writeHooks: WriteHooks;
  /** Throws StartError if the code cannot be loaded. */
  ready(): Promise<void>;
}

async function openHooks(core: Core, settings: CodeSettings): Promise<OpenHooks | undefined> {
  if (settings.collections.size === 0) return undefined;
  const { createWriteHooks } = await import("./hooks/write-hooks.ts");
  const runner = await runnerFor(core, settings);
  return {
    writeHooks: createWriteHooks(settings, {
      runner,
      limits: core.service.settings.limits,
      relationsOf: (name) => core.service.collections().get(name)?.relations ?? new Map(),
    }),
    ready: async () => {
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

function metricsOf(consumers: Consumers | undefined): MetricsSource {
  return {
    name: "code",
    families,
    counted: () => ({ holdfast_consumer_lag_seconds: [] }),
    stored: async () => {
      const samples = await readConsumerSamples(consumers);
      return () => samples;
    },
  };
}

export const loaded: Loaded<CodeSettings, OpenCode, ReplacedParts> = {
  endpoints: consumerEndpoints,
  families,
  inStore,
  open,
};
