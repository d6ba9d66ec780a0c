/** Serves a service inside an application of Fastify. This is the only file that knows Fastify. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../../access/principal.ts";
import { Admission, Ticket } from "../admission/ticket.ts";
import { identify } from "../caller/admit.ts";
import { hasContent } from "../protocol/content.ts";
import type { Content } from "../protocol/message.ts";
import type { Callers, Service } from "../service.ts";
import { defaultBounds } from "./bounds.ts";
import { contentFrom, HookedContent, isTooLarge } from "./hooks.ts";
import { contentIn, createRequestIds, createServe, createWire } from "./serve.ts";

/** The application of Fastify that the service is embedded in. */
export type App = FastifyInstance;

/** Who sends a request to the service, for the hooks of the application. */
export interface HookCaller {
  /** Identifies the caller: the id of a user, or the subject of a token or an API key. */
  subject: string;
  roles: string[];
  /** The claims of a token or a user; empty for an API key. */
  claims: Record<string, unknown>;
  /** The permissions that limit the credential, such as `articles:read`; `undefined` if it has no such limit. */
  scopes: string[] | undefined;
}

declare module "fastify" {
  interface FastifyRequest {
    /**
     * The caller of a request to the service, from `preParsing` on. `undefined` if the request has no valid credential: the service
     * then refuses it, or treats its sender as anyone.
     */
    caller?: HookCaller | undefined;
  }
}

/**
 * Serves a service inside another application, under the prefix of the given instance, and replaces the content parsers of
 * this instance. It sets no error handler: a request that a hook of the application refuses must never be served.
 */
export function mountService(app: App, service: Service): void {
  const nextId = createRequestIds(); // the application's own ids can be anything, and problems contain them
  const { limits } = service.settings;
  const admission = new Admission(service, defaultBounds);
  const serve = createServe(createWire({ service, logRequests: false, admission, bounds: defaultBounds }));
  const contents = new WeakMap<FastifyRequest, HookedContent>();
  const tickets = new WeakMap<FastifyRequest, Ticket>();
  const contentAfterHooks = (request: FastifyRequest): Content | undefined => {
    const content = contents.get(request);
    if (content !== undefined) return content.take();
    return request.body == null ? undefined : contentFrom(request.body, limits);
  };
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    const content = contentAfterHooks(request);
    const ticket = tickets.get(request);
    const also = reply.getHeaders() as OutgoingHttpHeaders;
    reply.hijack();
    inOrderOfArrival(reply.raw, () =>
      serve({
        message: request.raw,
        response: reply.raw,
        id: nextId(),
        client: request,
        content,
        ticket,
        also,
      }),
    );
  };
  // A hook can refuse a request with content, and its client can go away before the service takes it.
  app.addHook("onRequest", async (request, reply) => {
    if (!hasContent(request.raw)) return;
    afterwards(reply.raw, request.socket, () => tickets.get(request)?.release());
    if (isTooLarge(request, limits)) reply.header("connection", "close"); // nobody reads the content
  });
  if (service.authenticate !== undefined && !app.hasRequestDecorator("caller")) {
    app.decorateRequest("caller", undefined);
    app.addHook("onRequest", async (request) => {
      request.caller = await callerOf(service, request.raw);
    });
  }
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: unknown) => {
    if (payload !== request.raw) throw new Error(replacedStream);
    const ticket = new Ticket(admission, request.raw);
    const content = new HookedContent(request, contentIn(request.raw, ticket), limits);
    tickets.set(request, ticket);
    contents.set(request, content);
    return content.receive();
  });
  app.all("/*", handler);
  app.setNotFoundHandler(handler); // OPTIONS *, TRACE, //path …
}

/** A copy that hooks can change. The service itself refuses a credential that is not valid, and a session that may do nothing yet. */
async function callerOf(service: Callers, message: IncomingMessage): Promise<HookCaller | undefined> {
  let principal: Principal | undefined;
  try {
    principal = await identify(service, { method: message.method ?? "", headers: message.headers });
  } catch {
    return undefined;
  }
  if (principal === undefined || principal.session?.mustAddFactor === true) return undefined;
  const { subject, roles, claims, scopes } = principal;
  return {
    subject,
    roles: [...roles],
    claims: structuredClone(claims),
    scopes: scopes?.map(({ collection, action }) => `${collection}:${action}`),
  };
}

const replacedStream =
  "A preParsing hook has replaced the stream of a request to a collection. The service reads the request itself. Let the hook leave these paths out.";

/** Calls back when a response is complete, or its connection is closed. A response that waits for others has no connection yet. */
function afterwards(response: ServerResponse, connection: Socket, callback: () => void): void {
  const done = () => {
    response.off("close", done);
    connection.off("close", done);
    callback();
  };
  connection.setMaxListeners(0); // it can have many requests that wait
  response.on("close", done);
  connection.on("close", done);
}

/** Hooks can take longer for one request than for the next of the same connection, which must not overtake it. */
function inOrderOfArrival(response: ServerResponse, serve: () => void): void {
  if (response.socket !== null) serve();
  else response.once("socket", serve); // the response before this one is complete
}
