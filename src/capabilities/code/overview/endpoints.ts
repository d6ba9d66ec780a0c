/** The endpoint of the overview. */
import type { EndpointOf } from "../../../capability.ts";
import {
  closedObject,
  count,
  hasAdministrators,
  json,
  listOf,
  text,
} from "../../../http/openapi/described.ts";
import { jsonResult } from "../../../http/operations/result.ts";
import type { ShownCode } from "./overview.ts";

/** What the endpoint needs of the open capability. */
export interface WithOverview {
  overview(): Promise<ShownCode>;
}

const kind = { enum: ["before", "validate", "computed", "route", "consumer", "job"] };

const name = {
  type: "string",
  description:
    "The name of the collection, of the route or of the job. That of a consumer has both of its names.",
};

const functionSeen = closedObject({
  kind,
  name,
  calls: { ...count, description: "Calls since this instance started." },
  failures: { ...count, description: "Calls that failed. A refusal is no failure." },
  seconds: { type: "number", minimum: 0, description: "The time of all calls." },
});

const failure = closedObject({
  time: { type: "string", format: "date-time" },
  kind,
  name,
  reason: { enum: ["throw", "promise", "result", "time", "memory", "exit", "load"] },
  message: { ...text, description: "The error, with the lines of the file." },
});

const example: ShownCode = {
  functions: [{ kind: "route", name: "checkout", calls: 120, failures: 1, seconds: 14.2 }],
  failures: [
    {
      time: "2026-02-09T06:00:00.000Z",
      kind: "route",
      name: "checkout",
      reason: "throw",
      message: "Error: connect ECONNREFUSED 127.0.0.1:4000\n    at checkout (holdfast.config.ts:31:11)",
    },
  ],
};

/** The endpoints. */
export const overviewEndpoints: readonly EndpointOf<WithOverview>[] = [
  {
    path: "/_code",
    method: "GET",
    who: "administrators",
    exists: hasAdministrators,
    id: "getCode",
    tag: "Code",
    summary: "See the functions of the configuration",
    description:
      "Says how often each function was called since this instance started, and why the last calls failed. Every instance has its own counts.",
    successes: {
      200: {
        description:
          "All functions in the order of the configuration, and at most 100 failures, the latest first.",
        content: json(closedObject({ functions: listOf(functionSeen), failures: listOf(failure) }), example),
      },
    },
    handle: async (_, __, opened) => jsonResult(await opened.overview()),
  },
];
