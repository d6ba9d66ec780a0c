/** Opens what runs the functions of a configuration that may wait. */
import type { Core } from "../../../capability.ts";
import type { Inside } from "../../../http/inside.ts";
import type { CodeMeter } from "../code-meter.ts";
import type { CodeSpans } from "../code-spans.ts";
import type { CodeSettings } from "../settings.ts";
import { type CodeRunner, codeBounds } from "./code-runner.ts";

/** The runner of one thread of the service. Its worker starts with the first call. The meter counts its calls, and with `spans`, they have spans. */
export async function openRunner(
  core: Core,
  settings: CodeSettings,
  { meter, spans }: CodeWatch,
): Promise<CodeRunner> {
  const metered = meter.metered(await openPlain(core, settings, meter));
  return spans === undefined ? metered : spans.traced(metered);
}

/** What routes, consumers and jobs share in one thread of the service. */
export interface WorkParts {
  readonly runner: CodeRunner;
  /** Sends the requests of the clients. */
  readonly inside: Inside;
}

/** What sees all calls. `spans` is `undefined` without an SDK of OpenTelemetry. */
export interface CodeWatch {
  readonly meter: CodeMeter;
  readonly spans: CodeSpans | undefined;
}

async function openPlain(
  { service, clock }: Core,
  { module, functions, memoryMb, threads }: CodeSettings,
  meter: CodeMeter,
): Promise<CodeRunner> {
  const { prefix } = service.settings;
  if (module === undefined) {
    const { HereCodeRunner } = await import("./here-code-runner.ts");
    return new HereCodeRunner(functions, { prefix, bounds: codeBounds, clock });
  }
  const [{ CodeWorker }, { CodePool }] = await Promise.all([
    import("./code-worker.ts"),
    import("./code-pool.ts"),
  ]);
  const onStray = (what: string) => service.log.error(what);
  const onEnd = (what: string) => {
    meter.noteRestart();
    service.log.error(what);
  };
  const options = { module, memoryMb, prefix, bounds: codeBounds, onStray, onEnd };
  const workers = Array.from({ length: threads }, () => new CodeWorker(options));
  return threads === 1 ? (workers[0] as CodeRunner) : new CodePool(workers);
}
