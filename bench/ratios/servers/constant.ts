/** The yardstick for reads: Fastify answering one constant with the headers that it is given. */
import { fastify } from "fastify";

const { headers, body } = JSON.parse(process.argv[2] as string) as {
  headers: Record<string, string>;
  body: string;
};
const app = fastify({ logger: false });
app.get("/*", (_request, reply) => reply.code(200).headers(headers).send(body));
await app.listen({ port: 0, host: "127.0.0.1" });
const address = app.server.address();
process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
