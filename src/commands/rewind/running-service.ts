/** Rewinds of a running service, over HTTP. */
import { isObject, tryParse } from "../../json/values.ts";
import type { RewindReport } from "../../rewind/report.ts";
import { type RunningService, request, requireSuccess } from "../running-service.ts";

/** Rewinds, and returns the report, also of a rewind that is refused with one. Throws StartError. */
export async function requestRewind(
  service: RunningService,
  { to, names, isDryRun }: { to: number; names: readonly string[] | undefined; isDryRun: boolean },
): Promise<RewindReport> {
  const content = { to: new Date(to).toISOString(), collections: names, dryRun: isDryRun };
  const response = await request(service, { method: "POST", path: "/_rewind", content });
  const body = tryParse(response.text);
  if (response.status === 409 && isObject(body) && isObject(body.report))
    return body.report as unknown as RewindReport;
  return requireSuccess(response, service) as RewindReport;
}
