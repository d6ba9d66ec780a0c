/** Express and better-sqlite3, as a good engineer would write it in an hour. */
import express from "express";
import { sayPort } from "../../harness/say-port.ts";
import { faultOf, merge, readTask, toArticle } from "./articles.ts";
import { fillArticles, openArticles } from "./articles-table.ts";

const task = readTask();
if (task.fill === undefined) serve();
else await fillArticles(task.folder, task.fill);

function serve(): void {
  const table = openArticles(task.folder);
  const app = express();
  app.use(express.json({ type: ["application/json", "application/merge-patch+json"] }));

  app.get("/articles", (request, response) => {
    const limit = Math.min(Number(request.query.limit ?? 20), 1000);
    const { author, after = "" } = request.query;
    if (author !== undefined) return response.json(table.byAuthor(author, limit));
    const page = table.page(after, limit + 1);
    if (page.length > limit) {
      page.pop();
      response.set("Link", `</articles?limit=${limit}&after=${page.at(-1)?.id}>; rel="next"`);
    }
    return response.json(page);
  });

  app.get("/articles/:id", (request, response) => {
    const found = table.read(request.params.id as string);
    if (found === undefined) return response.status(404).json({ error: "no such article" });
    return response.set("ETag", `"${found.version}"`).json(found.article); // 304 is Express's own
  });

  app.post("/articles", (request, response) => {
    const fault = faultOf(request.body);
    if (fault !== undefined) return response.status(400).json({ error: fault });
    const article = toArticle(request.body);
    table.insert(article);
    return response.status(201).location(`/articles/${article.id}`).set("ETag", '"1"').json(article);
  });

  app.put("/articles/:id", (request, response) => {
    const fault = faultOf(request.body);
    if (fault !== undefined) return response.status(400).json({ error: fault });
    const article = toArticle(request.body, request.params.id as string);
    const version = table.update(article);
    if (version === 0) return response.status(404).json({ error: "no such article" });
    return response.set("ETag", `"${version}"`).json(article);
  });

  app.patch("/articles/:id", (request, response) => {
    const found = table.read(request.params.id as string);
    if (found === undefined) return response.status(404).json({ error: "no such article" });
    const article = merge(found.article, request.body);
    const fault = faultOf(article);
    if (fault !== undefined) return response.status(400).json({ error: fault });
    return response.set("ETag", `"${table.update(article)}"`).json(article);
  });

  app.delete("/articles/:id", (request, response) => {
    const isGone = table.remove(request.params.id as string);
    return isGone ? response.sendStatus(204) : response.status(404).json({ error: "no such article" });
  });

  const server = app.listen(0, "127.0.0.1", () => sayPort(server));
}
