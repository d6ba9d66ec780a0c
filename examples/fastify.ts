/** A Fastify application with its own routes and with collections. Run: npx node examples/fastify.ts */
import { fastify } from "fastify";
import { defineConfig, holdfast } from "holdfast";

const config = defineConfig({
  store: "sqlite:shop.db",
  prefix: "/data",
  collections: {
    articles: {
      schema: {
        type: "object",
        required: ["name", "price"],
        properties: { name: { type: "string" }, price: { type: "number", minimum: 0 } },
      },
    },
  },
});

const app = fastify();
app.register(holdfast, config);
app.get("/", () => ({ articles: "/data/articles" }));

// The application's hooks run before Holdfast, also for the collections.
app.addHook("onRequest", async (request, reply) => {
  if (request.method !== "GET" && request.headers["x-shop"] === undefined)
    return reply.code(403).send({ error: "Send the header X-Shop with the name of your shop." });
});

const port = Number(process.env.PORT ?? 3000);
try {
  console.log(await app.listen({ port }));
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
  console.error(`Port ${port} is in use. Choose another: PORT=${port + 1} npx node examples/fastify.ts`);
  process.exitCode = 1;
  await app.close();
}
process.once("SIGTERM", () => app.close());
