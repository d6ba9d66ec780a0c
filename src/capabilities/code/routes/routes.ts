/** Runs routes: reads the request, calls the function, and makes the response. */
import type { Core } from "../../../capability.ts";
import { Problem } from "../../../errors.ts";
import { onGone } from "../../../http/admission/gone.ts";
import type { Inside, InsideFetch } from "../../../http/inside.ts";
import type { Asked, Result, Routed } from "../../../http/operations/result.ts";
import type { OwnRoute } from "../../../http/route.ts";
import type { Service } from "../../../http/service.ts";
import { requireNoParameters } from "../../../query/list-parameters.ts";
import { principalOf } from "../calls/acting.ts";
import type { CodeOutcome, CodeRunner } from "../calls/code-runner.ts";
import type { WorkParts } from "../calls/open-runner.ts";
import type { CodeMeter } from "../code-meter.ts";
import type { CodeCaller } from "../public.ts";
import type { RouteSettings } from "./route-options.ts";
import { describeRequest, readBody, readQuery, requireNoBody } from "./route-request.ts";
import { routeResult } from "./route-response.ts";
import { compileRoutes, type RouteValidators } from "./route-schemas.ts";

/** How many routes run at the same time in one thread of the service. */
const maxRunning = 200;

/** How many routes can call each other, one inside the other. */
const maxDepth = 10;

/** How long the routes in progress go on when the service stops, before their signals are aborted, in milliseconds. Their requests can end in this time. */
const stopMs = 5_000;

/** How long they have to end after that, in milliseconds. Then their clients get a response before the whole stop has taken too long. */
const interruptMs = 2_000;

/** What routes depend on. */
interface RoutesParts extends WorkParts {
  core: Pick<Core, "stopping">;
  /** Counts the calls of `runner`. */
  meter: CodeMeter;
}

/** The routes of one thread of the service. */
export class Routes {
  readonly #runner: CodeRunner;
  readonly #meter: CodeMeter;
  readonly #validators: ReadonlyMap<string, RouteValidators>;
  readonly #clientOf: Inside;
  /** What ends each call in progress. */
  readonly #running = new Set<(why: Error) => void>();

  private constructor(
    { core: { stopping }, runner, inside, meter }: RoutesParts,
    validators: ReadonlyMap<string, RouteValidators>,
  ) {
    this.#runner = runner;
    this.#meter = meter;
    this.#validators = validators;
    this.#clientOf = inside;
    stopping.addEventListener("abort", () => void setTimeout(() => this.#interruptAll(), stopMs).unref());
  }

  /** Compiles the schemas of the routes. Throws StartError with the faults of all. */
  static async open(routes: ReadonlyMap<string, RouteSettings>, parts: RoutesParts): Promise<Routes> {
    return new Routes(parts, await compileRoutes(routes));
  }

  /** The query of a request, and nothing of its body. Throws INVALID_PARAMETER. */
  parse({ name, query, body }: RouteSettings, { route, request }: Routed<OwnRoute>): unknown {
    if (body === undefined) requireNoBody(request);
    if (query !== undefined) return readQuery(route.query, query, this.#of(name).query);
    requireNoParameters(route.query);
    return undefined;
  }

  /**
   * Calls the function of a route. Throws the problems of the body, what the function, or the service to the caller, has refused, UNAVAILABLE,
   * CODE_FAILED and OUTCOME_UNKNOWN.
   */
  async run(route: RouteSettings, { settings }: Pick<Service, "settings">, asked: Asked): Promise<Result> {
    const { request, names: params, parsed: query } = asked;
    const { name, timeoutMs } = route;
    const validators = this.#of(name);
    const body =
      route.body === undefined
        ? undefined
        : await readBody(request, route.body, { validate: validators.body, limits: settings.limits });
    request.ticket.endWork(); // the function can wait for long
    if (this.#running.size >= maxRunning)
      throw new Problem("UNAVAILABLE", "Too many requests to routes run at the same time. Try again.");
    const place = `routes.${name}.run`;
    if (depthOf(request) >= maxDepth)
      throw new Problem(
        "CODE_FAILED",
        "Routes call each other without an end. They may have changed something.",
        {
          cause: `${place}: it is call ${maxDepth + 1} in a chain of routes that call routes.`,
        },
      );
    const ending = new AbortController();
    const { promise: interrupted, resolve } = Promise.withResolvers<CodeOutcome>();
    const interrupt = (why: Error) => {
      ending.abort(why);
      const failed = { kind: "failed", reason: "exit", message: why.message } as const;
      setTimeout(() => resolve(failed), interruptMs).unref();
    };
    const stopWatching = onGone(request, () => ending.abort());
    this.#running.add(interrupt);
    try {
      const call = this.#runner.run({
        place,
        input: { params, query, body, caller: callerOf(asked), request: describeRequest(request) },
        clients: this.#clientsOf(route, asked),
        timeoutMs,
        signal: ending.signal,
      });
      const outcome = await Promise.race([call, interrupted]);
      const onWrong = (message: string) => this.#meter.noteFailure(place, { reason: "result", message });
      return routeResult(outcome, request, { route, validators, onWrong });
    } finally {
      this.#running.delete(interrupt);
      stopWatching();
    }
  }

  #interruptAll(): void {
    const why = new Error("The service stops.");
    for (const interrupt of this.#running) interrupt(why);
  }

  #clientsOf({ name, acting }: RouteSettings, { request, caller }: Asked): Record<string, InsideFetch> {
    const { ip } = request.client;
    const depth = depthOf(request) + 1;
    const client = this.#clientOf({ principal: caller.principal, ip, depth });
    if (acting === undefined) return { client };
    const { chain } = caller.principal ?? {};
    const principal = { ...principalOf(name, acting), ...(chain !== undefined && { chain }) };
    return { client, service: this.#clientOf({ principal, ip, depth }) };
  }

  #of(name: string): RouteValidators {
    return this.#validators.get(name) as RouteValidators; // all routes of the settings are compiled
  }
}

/** In how many routes the request was sent, one inside the other. */
function depthOf({ sentBy }: Asked["request"]): number {
  return sentBy?.depth ?? 0;
}

function callerOf({ caller: { principal } }: Asked): CodeCaller | undefined {
  if (principal === undefined) return undefined;
  const { subject, roles, claims } = principal;
  return { subject, roles, claims };
}
