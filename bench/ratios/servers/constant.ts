/** The yardstick for what answers cost: Fastify answering one constant, whatever is asked. */
import { fastify } from "fastify";

const {
  status = 200,
  headers,
  body,
} = JSON.parse(process.argv[2] as string) as {
  status?: number;
  headers: Record<string, string>;
  body: string;
};
const app = fastify({ logger: false });
app.addContentTypeParser(
  "application/merge-patch+json",
  { parseAs: "string" },
  async (_request: unknown, text: string) => JSON.parse(text),
);
app.all("/*", (_request, reply) => reply.code(status).headers(headers).send(body));
await app.listen({ port: 0, host: "127.0.0.1" });
const address = app.server.address();
process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
