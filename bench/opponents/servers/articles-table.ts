/** Articles in SQLite as a good engineer would keep them: typed columns, one index, prepared statements, a durable commit. */
import Database from "better-sqlite3";
import { type Article, readArticles } from "./articles.ts";

/** An article with the number of its version. */
export interface Stored {
  article: Article;
  version: number;
}

/** The operations of the services on their table. */
export interface ArticlesTable {
  insert(article: Article): void;
  read(id: string): Stored | undefined;
  /** Returns the new version; 0 if the article does not exist. */
  update(article: Article): number;
  remove(id: string): boolean;
  /** The articles after an id, in the order of ids. */
  page(after: string, limit: number): Article[];
  /** The articles of an author, the latest first. */
  byAuthor(author: string, limit: number): Article[];
}

type Columns = Omit<Article, "tags"> & { tags: string; version: number };

/** Opens the table in a folder. Creates it if it does not exist. */
export function openArticles(folder: string): ArticlesTable {
  const db = openFile(folder);
  const insert = db.prepare(insertSql);
  const read = db.prepare("select * from articles where id = ?");
  const update = db.prepare(
    "update articles set title = ?, author = ?, publishedOn = ?, rating = ?, tags = ?, summary = ?," +
      " version = version + 1 where id = ? returning version",
  );
  const remove = db.prepare("delete from articles where id = ?");
  const page = db.prepare("select * from articles where id > ? order by id limit ?");
  const byAuthor = db.prepare(
    "select * from articles where author = ? order by publishedOn desc, id limit ?",
  );
  return {
    insert: (article) => void insert.run(article.id, ...valuesOf(article)),
    read(id) {
      const found = read.get(id) as Columns | undefined;
      return found && { article: toArticle(found), version: found.version };
    },
    update(article) {
      const changed = update.get(...valuesOf(article), article.id) as { version: number } | undefined;
      return changed?.version ?? 0;
    },
    remove: (id) => remove.run(id).changes > 0,
    page: (after, limit) => page.all(after, limit).map((each) => toArticle(each as Columns)),
    byAuthor: (author, limit) => byAuthor.all(author, limit).map((each) => toArticle(each as Columns)),
  };
}

/** Fills the table of a folder from a file, in one transaction. */
export async function fillArticles(folder: string, file: string): Promise<void> {
  const db = openFile(folder);
  const insert = db.prepare(insertSql);
  db.exec("begin");
  for await (const article of readArticles(file)) insert.run(article.id, ...valuesOf(article));
  db.exec("commit");
  db.close();
}

const insertSql = "insert into articles values (?, ?, ?, ?, ?, ?, ?, 1)";

function openFile(folder: string): Database {
  const db = new Database(`${folder}/articles.db`);
  db.pragma("journal_mode = wal");
  db.pragma("synchronous = full");
  db.exec(`
    create table if not exists articles (
      id text primary key, title text not null, author text not null, publishedOn text not null,
      rating real not null, tags text not null, summary text not null, version integer not null
    ) strict;
    create index if not exists by_author on articles (author, publishedOn desc, id);
  `);
  return db;
}

function valuesOf({ title, author, publishedOn, rating, tags, summary }: Article): unknown[] {
  return [title, author, publishedOn, rating, JSON.stringify(tags), summary];
}

function toArticle({ version: _, tags, ...columns }: Columns): Article {
  return { ...columns, tags: JSON.parse(tags) as string[] };
}
