/** Opens the consumers of one thread. */
import type { Core } from "../../../capability.ts";
import { type Clock, systemClock } from "../../../clock.ts";
import { createInside } from "../../../http/inside.ts";
import type { CodeRunner } from "../calls/code-runner.ts";
import type { CodeSettings } from "../settings.ts";
import { Consumers } from "./consumers.ts";

/** What a test can replace. */
export interface ReplacedInConsumers {
  clock?: Clock;
  random?: () => number;
}

/** The consumers of a thread. They do not run yet. `undefined` if the configuration has none. */
export function openConsumers(
  { service, store, isShared, call }: Core,
  { consumers: declared }: CodeSettings,
  { runner, replaced }: { runner: CodeRunner; replaced: ReplacedInConsumers | undefined },
): Consumers | undefined {
  const { feed, now } = service;
  // The configuration was refused if it has consumers and keeps no history.
  if (declared.length === 0 || feed === undefined) return undefined;
  return new Consumers({
    service,
    store,
    feed,
    declared,
    runner,
    inside: createInside(service),
    clock: systemClock(now),
    random: Math.random,
    isShared: isShared || service.counts.threads > 1,
    wakeOthers: call && (() => call("wakeConsumers")),
    ...replaced,
  });
}
