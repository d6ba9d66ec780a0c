/** Opens the consumers of one thread. */
import type { Core } from "../../../capability.ts";
import type { Clock } from "../../../clock.ts";
import { interruptMs } from "../calls/interruption.ts";
import type { WorkParts } from "../calls/open-runner.ts";
import type { CodeSettings } from "../settings.ts";
import { Consumers } from "./consumers.ts";

/** What a test can replace. */
export interface ReplacedInConsumers {
  clock?: Clock;
  random?: () => number;
}

/** How long calls that run when the service stops go on, before their signals are aborted, in milliseconds. */
const graceMs = 5_000;

/** The consumers of a thread. They do not run yet. */
export function openConsumers(
  { service, store, isShared, clock, isForTests, call }: Core,
  { consumers: declared }: CodeSettings,
  { runner, inside, replaced }: WorkParts & { replaced: ReplacedInConsumers | undefined },
): Consumers | undefined {
  const { feed } = service;
  if (feed === undefined) return undefined; // the configuration was refused if it has consumers and keeps no history
  return new Consumers({
    service,
    store,
    feed,
    declared,
    runner,
    inside,
    clock,
    random: Math.random,
    isShared: isShared || service.counts.threads > 1,
    wakeOthers: call && (() => call("wakeConsumers")),
    stopMs: isForTests ? { grace: 0, interrupt: 0 } : { grace: graceMs, interrupt: interruptMs },
    ...replaced,
  });
}
