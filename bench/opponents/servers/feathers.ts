/** Feathers with its Knex service on SQLite, put together as its guide does, with a durable commit. */
import { BadRequest } from "@feathersjs/errors";
import { feathers, type HookContext } from "@feathersjs/feathers";
import { KnexService } from "@feathersjs/knex";
import { bodyParser, errorHandler, koa, rest } from "@feathersjs/koa";
import knex from "knex";
import { sayPort } from "../../harness/say-port.ts";
import { faultOf, readArticles, readTask, toArticle } from "./articles.ts";

const task = readTask();
const db = knex({
  client: "better-sqlite3",
  connection: { filename: `${task.folder}/articles.db` },
  useNullAsDefault: true,
  pool: {
    afterCreate(connection: { pragma(text: string): void }, done: (error: null, it: object) => void) {
      connection.pragma("journal_mode = wal");
      connection.pragma("synchronous = full");
      done(null, connection);
    },
  },
});
if (task.fill === undefined) await serve();
else await fill(db, task.fill);

async function serve(): Promise<void> {
  const app = koa(feathers());
  app.use(errorHandler());
  app.use(bodyParser());
  app.configure(rest());
  app.use(
    "articles",
    new KnexService({ Model: db, name: "articles", id: "id", paginate: { default: 20, max: 1000 } }),
  );
  app.service("articles").hooks({
    before: {
      create: [check, identify, fold],
      update: [check, fold],
      patch: [fold],
    },
    after: { all: [unfold] },
  });
  sayPort(await app.listen(0, "127.0.0.1"));
}

function check({ data }: HookContext): void {
  const fault = faultOf(data);
  if (fault !== undefined) throw new BadRequest(fault);
}

function identify(context: HookContext): void {
  context.data = { ...toArticle(context.data) };
}

/** The tags are a list, which SQLite keeps as text. */
function fold(context: HookContext): void {
  const { data } = context;
  if (data?.tags !== undefined) context.data = { ...data, tags: JSON.stringify(data.tags) };
}

function unfold({ result }: HookContext): void {
  const several = (result as { data?: unknown[] }).data;
  for (const each of (several ?? [result]) as { tags: unknown }[]) {
    if (typeof each.tags === "string") each.tags = JSON.parse(each.tags);
  }
}

async function fill(into: knex.Knex, file: string): Promise<void> {
  await into.schema.createTable("articles", (table) => {
    table.text("id").primary();
    for (const name of ["title", "author", "publishedOn", "tags", "summary"]) table.text(name).notNullable();
    table.float("rating").notNullable();
    table.index(["author", "publishedOn", "id"]);
  });
  const some: object[] = [];
  for await (const article of readArticles(file)) {
    some.push({ ...article, tags: JSON.stringify(article.tags) });
    if (some.length === 1_000) await into.batchInsert("articles", some.splice(0), 100);
  }
  await into.batchInsert("articles", some, 100);
  await into.destroy();
}
