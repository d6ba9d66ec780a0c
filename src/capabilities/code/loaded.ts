/** The code of the configuration, as the core loads it. */
import type {
  AroundHooks,
  Core,
  InStore,
  Loaded,
  Need,
  OpenCapability,
  OpenWriteHooks,
  ThreadWork,
} from "../../capability.ts";
import type { CodeWatch } from "./calls/open-runner.ts";
import { CodeMeter, codeFamilies, type ThreadReport } from "./code-meter.ts";
import type { ComputedWork } from "./computed/computed-work.ts";
import type { Consumers } from "./consumers/consumers.ts";
import { consumerEndpoints } from "./consumers/endpoints.ts";
import { consumersInStore } from "./consumers/in-store.ts";
import { consumerFamilies, metricsOfConsumers } from "./consumers/metrics.ts";
import type { ReplacedInConsumers } from "./consumers/open.ts";
import { retireAll } from "./consumers/registry.ts";
import { warningsAbout } from "./consumers/warnings.ts";
import { placesOf, requireFunctionsIn } from "./file-functions.ts";
import type { HowHooksRun } from "./hooks/open-hooks.ts";
import { membersForTests } from "./in-tests.ts";
import { jobEndpoints } from "./jobs/endpoints.ts";
import { jobsInStore } from "./jobs/in-store.ts";
import type { ServiceJobs } from "./jobs/jobs.ts";
import { jobFamilies, withJobs } from "./jobs/metrics.ts";
import type { ReplacedInJobs } from "./jobs/open-jobs.ts";
import { overviewEndpoints, type WithOverview } from "./overview/endpoints.ts";
import { Overview, type ShownCode, startReports } from "./overview/overview.ts";
import { routeEndpoints } from "./routes/route-endpoints.ts";
import type { Routes } from "./routes/routes.ts";
import type { CodeSettings } from "./settings.ts";
import { killWhileStuck, watchWorkers } from "./worker-ends.ts";

/** What a test can replace. */
export type ReplacedParts = ReplacedInConsumers & ReplacedInJobs;

/** The open code of one thread. Parts that the configuration does not have are absent. */
export interface OpenCode extends OpenCapability, WithOverview {
  readonly routes: Routes | undefined;
  readonly consumers: Consumers | undefined;
  readonly jobs: ServiceJobs | undefined;
}

async function open(
  core: Core,
  settings: CodeSettings,
  replaced: ReplacedParts | undefined,
): Promise<OpenCode> {
  const { log, collections } = core.service;
  const { call } = core;
  watchWorkers(core.stopping, call && ((count) => void call("workersStuck", String(count)).catch(() => {})));
  const { limits } = core.service.settings;
  const { isForTests } = core;
  const warn = (text: string) => log.warn(text);
  const places = placesOf(settings);
  if (settings.module !== undefined && settings.functions !== undefined)
    await requireFunctionsIn(settings.module, settings);
  const meter = new CodeMeter();
  const spans = core.tracing && new (await import("./code-spans.ts")).CodeSpans(core.tracing);
  const hooks = await openWriteHooks(settings, { limits, collections, warn }, { meter, spans, isForTests });
  const computed = await openComputed(core, settings, { warn, meter });
  const work = await openWork(core, settings, { watch: { meter, spans }, replaced });
  const { routes, consumers, jobs } = work ?? {};
  let stopping: Promise<unknown> | undefined;
  const stopWork = () => {
    stopping ??= Promise.all([jobs?.stop(), consumers?.stop()]);
    return stopping;
  };
  // Routes have their time to end from then on too. One after the other, they could need longer than the whole stop can take.
  core.stopping.addEventListener("abort", () => void stopWork().catch(() => {})); // `stop` throws the error
  const overview = new Overview(places, meter);
  const report = (seen: ThreadReport) => void call?.("noteCode", JSON.stringify(seen)).catch(() => {});
  const endReports = call && places.length > 0 ? startReports(meter, report) : undefined;
  return {
    writeHooks: hooks?.hooks,
    ...(computed && {
      overStore: computed.overStore,
      unfinished: (collection) => computed.incomplete.unfinished(collection),
    }),
    routes,
    consumers,
    jobs,
    overview: async () => (call === undefined ? overview.shown() : ((await call("shownCode")) as ShownCode)),
    prepare: async (thread) => {
      await hooks?.ready();
      await (computed?.prepare(thread) ?? forgetComputed(core, thread));
      if (consumers !== undefined) await consumers.prepare(thread);
      else if (thread.works) await retireAll(core);
      if (isForTests) await jobs?.plan();
    },
    start: (thread) => {
      computed?.start(thread);
      if (isForTests) return;
      consumers?.start(thread);
      if (thread.works) jobs?.start();
    },
    ...(isForTests && membersForTests({ consumers, jobs })),
    stop: async () => {
      endReports?.();
      await stopWork();
      await work?.stop();
      await computed?.stop();
      await hooks?.stop();
    },
    isFailing: () => hooks?.isFailing() === true,
    methods: () => {
      const note = overview.join();
      return {
        noteCode: (report: string) => note(JSON.parse(report)),
        shownCode: () => overview.shown(),
        wakeConsumers: () => consumers?.wake(),
        wakeJobs: () => jobs?.wake(),
        workersStuck: (count: string) => killWhileStuck(note, Number(count)),
      };
    },
    metrics: core.isMetered
      ? [withJobs(meter, jobs), ...(consumers ? [metricsOfConsumers(consumers)] : [])]
      : undefined,
  };
}

async function openWriteHooks(
  settings: CodeSettings,
  around: AroundHooks,
  how?: Omit<HowHooksRun, "warn">,
): Promise<OpenWriteHooks | undefined> {
  if (settings.collections.size + settings.computed.size === 0) return undefined;
  return (await import("./hooks/open-hooks.ts")).openHooks(settings, around, how);
}

async function openComputed(
  core: Core,
  settings: CodeSettings,
  watch: Pick<HowHooksRun, "warn" | "meter">,
): Promise<ComputedWork | undefined> {
  if (settings.computed.size === 0) return undefined;
  const [{ ComputedWork }, { openHookRunner }] = await Promise.all([
    import("./computed/computed-work.ts"),
    import("./hooks/open-hooks.ts"),
  ]);
  const { isForTests } = core;
  return new ComputedWork(core, settings.computed, () => openHookRunner(settings, { ...watch, isForTests }));
}

/** Without computed attributes, the store must not believe that their values are still right. */
async function forgetComputed({ store, service }: Core, { works }: ThreadWork): Promise<void> {
  if (!works || !store.collections().has("_computed")) return;
  const { ComputedRecords, forgetUndeclared } = await import("./computed/computed-records.ts");
  await forgetUndeclared(new ComputedRecords(store), new Map(), service.now());
}

/** What runs functions that may wait. */
interface OpenWork extends Pick<OpenCode, "routes" | "consumers" | "jobs"> {
  stop(): Promise<void>;
}

/** Opens what runs functions that may wait; `undefined` if the configuration has none. */
async function openWork(
  core: Core,
  settings: CodeSettings,
  { watch, replaced }: { watch: CodeWatch; replaced: ReplacedParts | undefined },
): Promise<OpenWork | undefined> {
  const { routes, consumers, jobs } = settings;
  if (routes.size + consumers.length + jobs.size === 0) return undefined;
  const [{ openRunner }, { createInside }] = await Promise.all([
    import("./calls/open-runner.ts"),
    import("../../http/inside.ts"),
  ]);
  const runner = await openRunner(core, settings, watch);
  const inside = createInside(core.service);
  const parts = { runner, inside, replaced };
  return {
    routes:
      routes.size === 0
        ? undefined
        : await (await import("./routes/routes.ts")).Routes.open(routes, {
            core,
            runner,
            inside,
            meter: watch.meter,
          }),
    consumers:
      consumers.length === 0
        ? undefined
        : (await import("./consumers/open.ts")).openConsumers(core, settings, parts),
    jobs: jobs.size === 0 ? undefined : (await import("./jobs/open-jobs.ts")).openJobs(core, settings, parts),
    stop: () => runner.stop(),
  };
}

/** The schemas of routes are compiled, so that a check finds their faults. */
const schemas: Need<CodeSettings> = {
  at: [],
  require: async ({ routes }) => {
    if (routes.size > 0) await (await import("./routes/route-schemas.ts")).compileRoutes(routes);
  },
};

const inStore: InStore<CodeSettings> = {
  ...consumersInStore,
  quieten: async (store, how) => {
    const done = [consumersInStore, jobsInStore].map(({ quieten }) => quieten(store, how));
    return (await Promise.all(done)).flat();
  },
};

export const loaded: Loaded<CodeSettings, OpenCode, ReplacedParts> = {
  endpoints: [...overviewEndpoints, ...consumerEndpoints, ...jobEndpoints],
  endpointsFor: routeEndpoints,
  families: { ...codeFamilies, ...consumerFamilies, ...jobFamilies },
  inStore,
  needs: [schemas],
  warnings: async ({ computed, consumers }, { access, collections }) => {
    const { warningsAboutComputed } = await import("./computed/computed-warnings.ts");
    return [...warningsAboutComputed(computed, collections), ...warningsAbout(consumers, access)];
  },
  openWriteHooks: (settings, around) => openWriteHooks(settings, around),
  open,
};
