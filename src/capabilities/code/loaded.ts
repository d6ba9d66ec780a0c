/** The code of the configuration, as the core loads it. */
import type { Core, Loaded, OpenCapability } from "../../capability.ts";
import type { WriteHooks } from "../../collection/write-hooks.ts";
import { StartError } from "../../errors.ts";
import type { HookRunner } from "./hooks/hook-worker.ts";
import type { CodeSettings } from "./settings.ts";

/** The open code of one thread. */
export interface OpenCode extends OpenCapability {
  readonly writeHooks: WriteHooks | undefined;
}

async function open(core: Core, settings: CodeSettings): Promise<OpenCode> {
  if (settings.collections.size + settings.computed.size === 0) return { writeHooks: undefined };
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

export const loaded: Loaded<CodeSettings, OpenCode> = { open };
