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
import type { CodeRunner } from "../calls/code-runner.ts";
import { interruptMs, outcomeWithin } from "../calls/interruption.ts";
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
  /** What aborts the signal of each call in progress. */
  readonly #running = new Set<AbortController>();
  /** Aborted when these calls must end, because the service stops. */
  readonly #ending = new AbortController();

  private constructor(
    { core: { stopping }, runner, inside, meter }: RoutesParts,
    validators: ReadonlyMap<string, RouteValidators>,
  ) {
    this.#runner = runner;
    this.#meter = meter;
    this.#validators = validators;
    this.#clientOf = inside;
    stopping.addEventListener("abort", () => void setTimeout(() => this.#endAll(), stopMs).unref());
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
        `More than ${maxDepth} routes call each other, one inside the other. They may have changed something.`,
        { cause: `${place}: it is call ${maxDepth + 1} in a chain of routes that call routes.` },
      );
    const aborter = new AbortController();
    const stopWatching = onGone(request, () => aborter.abort());
    this.#running.add(aborter);
    try {
      const call = this.#runner.run({
        place,
        input: { params, query, body, caller: callerOf(asked), request: describeRequest(request) },
        clients: this.#clientsOf(route, asked),
        timeoutMs,
        signal: aborter.signal,
      });
      // The client gets a response before the whole stop has taken too long.
      const outcome = await outcomeWithin(call, { signal: this.#ending.signal, ms: interruptMs });
      const onWrong = (message: string) => this.#meter.noteFailure(place, { reason: "result", message });
      return routeResult(outcome, request, { route, validators, onWrong });
    } finally {
      this.#running.delete(aborter);
      stopWatching();
    }
  }

  #endAll(): void {
    this.#ending.abort();
    for (const aborter of this.#running) aborter.abort(new Error("The service stops."));
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
