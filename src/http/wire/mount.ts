/** Serves a service inside an application of Fastify. This is the only file that knows Fastify. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createBudget } from "../limits/budget.ts";
import type { Service } from "../service.ts";
import { defaultBounds } from "./bounds.ts";
import { createRequestIds } from "./request-ids.ts";
import { createServe, createWire } from "./serve.ts";

/** The application of Fastify that the service is embedded in. */
export type App = FastifyInstance;

/**
 * Serves a service inside another application, under the prefix of the given instance, and replaces the content parsers of
 * this instance. It sets no error handler: a request that a hook of the application refuses must never be served.
 */
export function mountService(app: App, service: Service): void {
  const nextId = createRequestIds(); // the application's own ids can be anything, and problems contain them
  const budget = createBudget(defaultBounds.maxHeldBytes, defaultBounds.maxRequests, service.shared);
  const serve = createServe(createWire({ service, logRequests: false, budget, bounds: defaultBounds }));
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    serve({ message: request.raw, response: reply.raw, id: nextId(), client: request });
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _content, done) => done(null)); // the service reads the content
  app.all("/*", handler);
  app.setNotFoundHandler(handler); // OPTIONS *, TRACE, //path, QUERY …
}
