/** Serves the page beside it, and the built client. Run: npm start, then npx node examples/browser/serve.ts */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";

const clone = new URL("../../", import.meta.url);
const page = "/examples/browser/";
const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript" };

const server = createServer(async ({ url = "/" }, response) => {
  const { pathname } = new URL(url, "http://localhost"); // URL removes "..", so the path stays in the clone
  const path = pathname === page ? `${page}index.html` : pathname;
  const isServed = path.startsWith(page) || path.startsWith("/client/dist/");
  const content = isServed ? await readFile(new URL(`.${path}`, clone)).catch(() => undefined) : undefined;
  const type = types[extname(path)] ?? "application/octet-stream";
  response.writeHead(content === undefined ? 404 : 200, { "content-type": type }).end(content);
});

const port = Number(process.env.PORT ?? 8080);
server.once("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EADDRINUSE") throw error;
  console.error(
    `Port ${port} is in use. Choose another: PORT=${port + 1} npx node examples/browser/serve.ts`,
  );
  process.exitCode = 1;
});
server.listen(port, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  console.log(`http://127.0.0.1:${port}${page}`);
});
