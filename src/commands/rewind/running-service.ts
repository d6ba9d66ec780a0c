/** Rewinds of a running service, over HTTP. */
import { StartError } from "../../errors.ts";
import { isObject, tryParse } from "../../json/values.ts";
import type { RewindReport } from "../../rewind/attempt.ts";
import { type RunningService, request, requireSuccess } from "../running-service.ts";

/** Rewinds, and returns the report, also of a rewind that is refused with one. Throws StartError. */
export async function requestRewind(
  service: RunningService,
  {
    to,
    names,
    max,
    isDryRun,
  }: { to: number; names: readonly string[] | undefined; max: number; isDryRun: boolean },
): Promise<RewindReport> {
  const content = { to: new Date(to).toISOString(), collections: names, max, dryRun: isDryRun };
  const response = await request(service, { method: "POST", path: "/_rewind", content });
  const body = tryParse(response.text);
  if (response.status === 409 && isObject(body) && isObject(body.report))
    return body.report as unknown as RewindReport;
  if (response.status === 409 && isObject(body) && typeof body.matched === "number")
    throw new StartError(tooMany(body.matched, max));
  return requireSuccess(response, service) as RewindReport;
}

/** The message about a rewind of more resources than `--max` allows. */
export function tooMany(matched: number | undefined, max: number): string {
  return `${matched} resources would change, but --max is ${max}, so nothing was rewound. Give --max ${matched}, or a later time.`;
}
