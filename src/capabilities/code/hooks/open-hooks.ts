/** Opens the hooks of a service or a command, with what runs them. */
import type { AroundHooks, OpenWriteHooks } from "../../../capability.ts";
import { StartError } from "../../../errors.ts";
import type { CodeMeter } from "../code-meter.ts";
import type { CodeSpans } from "../code-spans.ts";
import type { CodeSettings } from "../settings.ts";
import type { HookRunner, HookWorkerOptions, WorkerEnd } from "./hook-worker.ts";
import { createWriteHooks } from "./write-hooks.ts";

/** How hooks run. */
export interface HowHooksRun {
  warn: (text: string) => void;
  /** Counts the calls. */
  meter?: CodeMeter | undefined;
  /** Makes spans of the calls. */
  spans?: CodeSpans | undefined;
  /** Whether the service is one for tests: a call in this thread that has taken too long then fails. */
  isForTests?: boolean;
}

/** Opens the hooks and the computed attributes of all collections. */
export async function openHooks(
  settings: CodeSettings,
  { limits, collections, warn }: AroundHooks,
  how: Omit<HowHooksRun, "warn"> = {},
): Promise<OpenWriteHooks> {
  const runner = await openHookRunner(settings, { ...how, warn });
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

/** A worker for hooks; in an application and in a test, this thread. */
export async function openHookRunner(
  settings: CodeSettings,
  { warn, meter, spans, isForTests = false }: HowHooksRun,
): Promise<HookRunner> {
  const onEnd = (reason: WorkerEnd, message: string) => {
    meter?.noteRestart();
    warn(`The worker of the hooks ${whyEnded[reason]}: ${message}`);
  };
  const plain = await openPlain(settings, { onEnd, isForTests });
  const metered = meter === undefined ? plain : meter.meteredHooks(plain);
  return spans === undefined ? metered : spans.tracedHooks(metered);
}

async function openPlain(
  { module, functions, hookMs, memoryMb }: CodeSettings,
  { onEnd, isForTests }: { onEnd: NonNullable<HookWorkerOptions["onEnd"]>; isForTests: boolean },
): Promise<HookRunner> {
  if (module === undefined) {
    const { HereRunner } = await import("./here-runner.ts");
    return new HereRunner(functions, isForTests ? hookMs : undefined);
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
  lost: "cannot be ended, and can need more and more memory. Restart the service. The service tried to end it for this reason",
};
