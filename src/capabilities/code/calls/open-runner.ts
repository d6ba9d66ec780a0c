/** Opens what runs the functions of a configuration that may wait. */
import type { Core } from "../../../capability.ts";
import type { CodeMeter } from "../code-meter.ts";
import type { CodeSettings } from "../settings.ts";
import { type CodeRunner, codeBounds } from "./code-runner.ts";

/** The runner of one thread of the service. Its worker starts with the first call. The meter counts its calls. */
export async function openRunner(core: Core, settings: CodeSettings, meter: CodeMeter): Promise<CodeRunner> {
  return meter.metered(await openPlain(core, settings, meter));
}

async function openPlain(
  { service, clock }: Core,
  { module, functions, memoryMb }: CodeSettings,
  meter: CodeMeter,
): Promise<CodeRunner> {
  const { prefix } = service.settings;
  if (module === undefined) {
    const { HereCodeRunner } = await import("./here-code-runner.ts");
    return new HereCodeRunner(functions, { prefix, bounds: codeBounds, clock });
  }
  const { CodeWorker } = await import("./code-worker.ts");
  const onStray = (what: string) => service.log.error(what);
  const onEnd = (what: string) => {
    meter.noteRestart();
    service.log.error(what);
  };
  return new CodeWorker({ module, memoryMb, prefix, bounds: codeBounds, onStray, onEnd });
}
