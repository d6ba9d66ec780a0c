/** The yardstick for what answers cost: Fastify answering one constant, whatever is asked. */
import { fastify } from "fastify";
import { readConstantAnswer } from "../../harness/constant-answer.ts";
import { sayPort } from "../../harness/say-port.ts";

const { status, headers, body } = readConstantAnswer();
const app = fastify({ logger: false });
app.addContentTypeParser(
  "application/merge-patch+json",
  { parseAs: "string" },
  async (_request: unknown, text: string) => JSON.parse(text),
);
app.all("/*", (_request, reply) => reply.code(status).headers(headers).send(body));
await app.listen({ port: 0, host: "127.0.0.1" });
sayPort(app.server);
