/** Spans of requests, with the names and attributes of the HTTP conventions (https://opentelemetry.io/docs/specs/semconv/http/). */
import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { HttpRequest } from "../http/protocol/message.ts";
import { methodName } from "../http/protocol/message.ts";
import { hostOf, splitTarget } from "../http/protocol/target.ts";
import type { RequestSpan, RequestTracer } from "../http/service.ts";

/** Makes a span of each request. It continues the trace of the client, or of the application around the service. */
export function createRequestTracer(tracer: Tracer): RequestTracer {
  return {
    start(request) {
      const around = context.active();
      const isInside = trace.getSpan(around) !== undefined;
      const parent = isInside ? around : propagation.extract(around, request.headers);
      const span = tracer.startSpan(
        nameOf(request.method, undefined),
        { kind: isInside ? SpanKind.INTERNAL : SpanKind.SERVER, attributes: attributesOf(request) },
        parent,
      );
      return new SpanOfRequest(request, span, trace.setSpan(parent, span));
    },
  };
}

class SpanOfRequest implements RequestSpan {
  readonly #request: HttpRequest;
  readonly #span: Span;
  readonly #context: Context;
  #hasEnded = false;

  constructor(request: HttpRequest, span: Span, inside: Context) {
    this.#request = request;
    this.#span = span;
    this.#context = inside;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  run<T>(work: () => T): T {
    return context.with(this.#context, work);
  }

  end(response?: { template?: string; status: number }): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { template, status = 500 } = response ?? {};
    const span = this.#span;
    span.updateName(nameOf(this.#request.method, template));
    if (template !== undefined) span.setAttribute("http.route", template);
    if (response !== undefined) span.setAttribute("http.response.status_code", status);
    if (status >= 500) {
      span.setAttribute("error.type", String(status));
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  }
}

/** `GET /api/v1/articles/{id}`. It has no part that a client can choose. */
function nameOf(method: string, template: string | undefined): string {
  const known = methodName(method);
  const first = known === "_OTHER" ? "HTTP" : known;
  return template === undefined ? first : `${first} ${template}`;
}

function attributesOf(request: HttpRequest): Attributes {
  const { method, target, version, client, headers, id } = request;
  const { path, query } = splitTarget(target);
  const known = methodName(method);
  return {
    "http.request.method": known,
    ...(known === "_OTHER" && { "http.request.method_original": method }),
    "url.scheme": client.protocol,
    "url.path": path || "/",
    ...(query !== "" && { "url.query": withoutValues(query) }),
    ...addressOf(hostOf(request)),
    "network.protocol.version": version,
    ...(headers["user-agent"] !== undefined && { "user_agent.original": headers["user-agent"] }),
    "holdfast.request.id": id,
  };
}

/** The parameters that are shown, at most. */
const maxParameters = 20;

/** A query string with the names of its parameters only. Values can be secret: filters contain data. */
function withoutValues(query: string): string {
  const parameters = query.split("&", maxParameters).map((each) => each.split("=", 2));
  return parameters.map(([name, value]) => (value === undefined ? "REDACTED" : `${name}=REDACTED`)).join("&");
}

function addressOf(host: string): Attributes {
  const [, address, port] = /^(\[[^\]]*\]|[^:]*)(?::([0-9]+))?$/.exec(host) ?? [];
  if (address === undefined || address === "") return {};
  return { "server.address": address, ...(port !== undefined && { "server.port": Number(port) }) };
}
