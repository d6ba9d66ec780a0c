/** Faults in routes. */
import type { Fault } from "../faults.ts";

export const routeFaults: readonly Fault[] = [
  {
    name: "routes-pass-on-of-service",
    what: "A route passes on what the service refuses to `service`.",
    noticedBy: "test/capabilities/code/passed-on",
    test: "a route does not pass on what the service refuses to others, or to the code",
    replacements: [['      if (name === "client") use.refusals', "      use.refusals"]],
  },
  {
    name: "routes-pass-on-nothing",
    what: "A refusal of the client of a route is 500.",
    noticedBy: "test/capabilities/code/routes-rights",
    test: "the client of a route has the rights of its caller",
    replacements: [["refusals: isRoute ? refusals : undefined }", "refusals: undefined }"]],
  },
  {
    name: "routes-pass-on-unauthenticated",
    what: "A route passes on a 401 of its client.",
    noticedBy: "test/capabilities/code/passed-on",
    test: "a route does not pass on what the service refuses to others, or to the code",
    replacements: [["[400, 403, 404, 409, 412, 422]", "[400, 401, 403, 404, 409, 412, 422]"]],
  },
  {
    name: "routes-pass-on-of-another-call",
    what: "A route passes on an error of another call.",
    noticedBy: "test/capabilities/code/passed-on",
    test: "a route does not pass on what the service refuses to others, or to the code",
    replacements: [
      [
        "export class CallerRefusals {\n  readonly #noted =",
        "export class CallerRefusals {\n  static readonly noted =",
      ],
      ["this.#noted.set(headers, refusal", "CallerRefusals.noted.set(headers, refusal"],
      ["? this.#noted.get(headers)", "? CallerRefusals.noted.get(headers)"],
    ],
  },
  {
    name: "routes-count-passed-on",
    what: "The metrics count what a route passes on as a failure of its function.",
    noticedBy: "test/capabilities/code/passed-on",
    test: "what a route passes on is no failure of its function",
    replacements: [
      [
        "outcome.refusal !== undefined || outcome.passedOn !== undefined)\n",
        "outcome.refusal !== undefined)\n",
      ],
    ],
  },
  {
    name: "routes-round-queries",
    what: "A number in the query of a route becomes another one.",
    noticedBy: "test/capabilities/code/routes",
    test: "a number in the query that JavaScript would change is refused",
    replacements: [["if (isInexact(text, each)) violations", "if (isInexact(text, {})) violations"]],
  },
  {
    name: "routes-claim-codings",
    what: "A route sends a text as if it were compressed.",
    noticedBy: "test/capabilities/code/routes",
    test: "a response that a route cannot give is 500, and its client learns nothing about the code",
    replacements: [
      [
        'headers["content-encoding"] !== undefined && !(body instanceof Uint8Array)',
        'headers["content-encoding"] !== undefined && body === undefined',
      ],
    ],
  },
  {
    name: "hooks-start-async",
    what: "The service starts with an async hook, whose writes fail.",
    noticedBy: "test/capabilities/code/code-options",
    test: "the configuration { a: { hooks: { before: async () => {} } } } has a fault that names its place",
    replacements: [["...(types.isAsyncFunction(value) && { isAsync: true })", ""]],
  },
  {
    name: "consumers-lose-their-own",
    what: "withConsumers drops the consumers that a collection has.",
    noticedBy: "test/capabilities/code/with-consumers",
    test: "withConsumers adds consumers to collections, and keeps those that they have",
    replacements: [
      ["const after = { ...declared.after, ...consumers[name] };", "const after = { ...consumers[name] };"],
    ],
  },
];
