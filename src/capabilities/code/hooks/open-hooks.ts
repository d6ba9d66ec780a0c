/** Opens the hooks of a service or a command, with what runs them. */
import type { AroundHooks, OpenWriteHooks } from "../../../capability.ts";
import { StartError } from "../../../errors.ts";
import type { CodeWatch } from "../calls/open-runner.ts";
import type { CodeMeter } from "../code-meter.ts";
import type { CodeSettings } from "../settings.ts";
import type { HookRunner, WorkerEnd } from "./hook-worker.ts";
import { createWriteHooks } from "./write-hooks.ts";

/** What sees all calls of hooks. */
export type WatchOfHooks = { readonly [Name in keyof CodeWatch]?: CodeWatch[Name] | undefined };

/** Opens the hooks and the computed attributes of all collections. With a meter, their calls are counted. With spans, they have spans. */
export async function openHooks(
  settings: CodeSettings,
  { limits, collections, warn }: AroundHooks,
  { meter, spans }: WatchOfHooks = {},
): Promise<OpenWriteHooks> {
  const metered = await openHookRunner(settings, warn, meter);
  const runner = spans === undefined ? metered : spans.tracedHooks(metered);
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

/** A worker for hooks; in an application, this thread. */
export async function openHookRunner(
  settings: CodeSettings,
  warn: (text: string) => void,
  meter?: CodeMeter,
): Promise<HookRunner> {
  const plain = await openPlain(settings, (reason) => {
    meter?.noteRestart();
    warn(`The worker of the hooks ${whyEnded[reason]}.`);
  });
  return meter === undefined ? plain : meter.meteredHooks(plain);
}

async function openPlain(
  { module, functions, hookMs, memoryMb }: CodeSettings,
  onEnd: (reason: WorkerEnd) => void,
): Promise<HookRunner> {
  if (module === undefined) {
    const { HereRunner } = await import("./here-runner.ts");
    return new HereRunner(functions);
  }
  const { HookWorker } = await import("./hook-worker.ts");
  return new HookWorker({ module, hookMs, memoryMb, onEnd });
}

/** Why a worker of hooks has ended, as the log says it. */
const whyEnded: Readonly<Record<WorkerEnd, string>> = {
  time: "was ended, because a call took too long",
  memory: "has ended, because it needed too much memory",
  exit: "has ended, because the code ended it",
  throw: "has ended, because of an error that nothing handles",
  load: "cannot load the configuration",
  lost: "cannot be ended, and can need more and more memory. Restart the service",
};
