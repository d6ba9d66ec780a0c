/** Fastify and better-sqlite3, as a good engineer would write it in an hour, with schemas for requests and responses. */
import { type FastifyInstance, fastify } from "fastify";
import { sayPort } from "../../harness/say-port.ts";
import { sampleSchema } from "../../ratios/sample.ts";
import { faultOf, merge, readTask, toArticle } from "./articles.ts";
import { fillArticles, openArticles } from "./articles-table.ts";

interface ById {
  Params: { id: string };
}

const task = readTask();
const properties = { id: { type: "string" }, ...sampleSchema.properties };
const sent = { type: "object", properties };
const body = sampleSchema;

if (task.fill === undefined) await serve();
else await fillArticles(task.folder, task.fill);

async function serve(): Promise<void> {
  const app = fastify();
  app.addContentTypeParser(
    "application/merge-patch+json",
    { parseAs: "string" },
    async (_request: unknown, text: string) => JSON.parse(text),
  );
  addReads(app, openArticles(task.folder));
  await app.listen({ port: 0, host: "127.0.0.1" });
  sayPort(app.server);
}

function addReads(app: FastifyInstance, table: ReturnType<typeof openArticles>): void {
  app.get<{ Querystring: { limit?: string; author?: string; after?: string } }>(
    "/articles",
    { schema: { response: { 200: { type: "array", items: sent } } } },
    (request, reply) => {
      const limit = Math.min(Number(request.query.limit ?? 20), 1000);
      const { author, after = "" } = request.query;
      if (author !== undefined) return reply.send(table.byAuthor(author, limit));
      const page = table.page(after, limit + 1);
      if (page.length > limit) {
        page.pop();
        reply.header("Link", `</articles?limit=${limit}&after=${page.at(-1)?.id}>; rel="next"`);
      }
      return reply.send(page);
    },
  );

  app.get<ById>("/articles/:id", { schema: { response: { 200: sent } } }, (request, reply) => {
    const found = table.read(request.params.id);
    if (found === undefined) return reply.code(404).send({ error: "no such article" });
    const tag = `"${found.version}"`;
    reply.header("ETag", tag);
    return request.headers["if-none-match"] === tag ? reply.code(304).send() : reply.send(found.article);
  });
  addWrites(app, table);
}

function addWrites(app: FastifyInstance, table: ReturnType<typeof openArticles>): void {
  app.post("/articles", { schema: { body, response: { 201: sent } } }, (request, reply) => {
    const article = toArticle(request.body);
    table.insert(article);
    return reply
      .code(201)
      .headers({ Location: `/articles/${article.id}`, ETag: '"1"' })
      .send(article);
  });

  app.put<ById>("/articles/:id", { schema: { body, response: { 200: sent } } }, (request, reply) => {
    const article = toArticle(request.body, request.params.id);
    const version = table.update(article);
    if (version === 0) return reply.code(404).send({ error: "no such article" });
    return reply.header("ETag", `"${version}"`).send(article);
  });

  app.patch<ById>("/articles/:id", { schema: { response: { 200: sent } } }, (request, reply) => {
    const found = table.read(request.params.id);
    if (found === undefined) return reply.code(404).send({ error: "no such article" });
    const article = merge(found.article, request.body as Record<string, unknown>);
    const fault = faultOf(article);
    if (fault !== undefined) return reply.code(400).send({ error: fault });
    return reply.header("ETag", `"${table.update(article)}"`).send(article);
  });

  app.delete<ById>("/articles/:id", (request, reply) => {
    const isGone = table.remove(request.params.id);
    return isGone ? reply.code(204).send() : reply.code(404).send({ error: "no such article" });
  });
}
