/** Opens what runs the functions of a configuration that may wait. */
import type { Core } from "../../../capability.ts";
import type { CodeSettings } from "../settings.ts";
import { type CodeRunner, codeBounds } from "./code-runner.ts";

/** The runner of one thread of the service. Its worker starts with the first call. */
export async function openRunner(
  { service }: Core,
  { module, functions, memoryMb }: CodeSettings,
): Promise<CodeRunner> {
  const { prefix } = service.settings;
  if (module === undefined) {
    const { HereCodeRunner } = await import("./here-code-runner.ts");
    return new HereCodeRunner(functions, { prefix, bounds: codeBounds });
  }
  const { CodeWorker } = await import("./code-worker.ts");
  const onTrouble = (what: string) => service.log.error(what);
  return new CodeWorker({ module, memoryMb, prefix, bounds: codeBounds, onTrouble });
}
