/** Spans of the calls of functions. */
import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { InsideFetch } from "../../http/inside.ts";
import type { WorkTracing } from "../../observe/origins.ts";
import type { CodeCall, CodeRunner } from "./calls/code-runner.ts";
import { labelsOf } from "./code-meter.ts";
import type { HookRunner } from "./hooks/hook-worker.ts";

/** The most spans of hooks in one request. A batch or an import can call them for each of its resources. */
const maxOfRequest = 100;

/** Makes the spans of the calls of one thread. */
export class CodeSpans {
  readonly #tracing: WorkTracing;
  /** How many spans of hooks each request has. */
  readonly #counts = new WeakMap<Span, number>();

  constructor(tracing: WorkTracing) {
    this.#tracing = tracing;
  }

  /**
   * The runner, whose calls have spans. Those of a route belong to its request, and are not sampled if that is not. Others start a trace, which
   * links to the change that they handle.
   */
  traced(runner: CodeRunner): CodeRunner {
    return {
      run: (call) => {
        const around = labelsOf(call.place).kind === "route" ? context.active() : ROOT_CONTEXT;
        const link = call.origin && this.#tracing.origins.spanOf(call.origin);
        const span = this.#start(call.place, around, {
          attempt: call.input.attempt,
          links: link === undefined ? [] : [{ context: link }],
        });
        const inside = trace.setSpan(around, span);
        return this.#ended(span, () => context.with(inside, () => runner.run(withClientsIn(call, inside))));
      },
      stop: () => runner.stop(),
    };
  }

  /** The runner of hooks. Its calls have spans inside requests only: work in the background would make traces without an end. */
  tracedHooks(runner: HookRunner): HookRunner {
    return {
      call: (place, input) => {
        const parent = trace.getActiveSpan();
        if (parent?.isRecording() !== true) return runner.call(place, input);
        const count = (this.#counts.get(parent) ?? 0) + 1;
        if (count > maxOfRequest) return runner.call(place, input);
        this.#counts.set(parent, count);
        return this.#ended(this.#start(place, context.active()), () => runner.call(place, input));
      },
      ready: () => runner.ready(),
      isFailing: () => runner.isFailing(),
      stop: () => runner.stop(),
    };
  }

  #start(
    place: string,
    around: Context,
    {
      attempt,
      links = [],
    }: { attempt?: unknown; links?: { context: ReturnType<Span["spanContext"]> }[] } = {},
  ): Span {
    const { kind, name } = labelsOf(place);
    const attributes: Attributes = {
      "code.function.name": place,
      "holdfast.code.kind": kind,
      "holdfast.code.name": name,
      ...(typeof attempt === "number" && { "holdfast.code.attempt": attempt }),
    };
    const options = { kind: SpanKind.INTERNAL, attributes, links };
    return this.#tracing.tracer.startSpan(`${kind} ${name}`, options, around);
  }

  async #ended<Output extends Outcome>(span: Span, work: () => Promise<Output>): Promise<Output> {
    try {
      const output = await work();
      const isRefusal = output.refusal !== undefined || output.passedOn !== undefined;
      if (output.kind === "failed" && !isRefusal) fail(span, output.reason ?? "_OTHER");
      return output;
    } catch (error) {
      fail(span, "_OTHER"); // such as too many calls that wait
      throw error;
    } finally {
      span.end();
    }
  }
}

/** What `HookOutput` and `CodeOutcome` have in common. */
interface Outcome {
  readonly kind: string;
  readonly reason?: string;
  readonly refusal?: object;
  readonly passedOn?: object;
}

/** Messages can contain data, so they are left out. */
function fail(span: Span, reason: string): void {
  span.setAttribute("error.type", reason);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** What the clients of a call do in the store has spans inside that of the call. */
function withClientsIn(call: CodeCall, inside: Context): CodeCall {
  const clients = Object.entries(call.clients).map(([name, send]): [string, InsideFetch] => [
    name,
    (...sent) => context.with(inside, () => send(...sent)),
  ]);
  return { ...call, clients: Object.fromEntries(clients) };
}
