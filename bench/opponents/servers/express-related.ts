/** Articles with their authors and comments, by Express and better-sqlite3: with one statement for all, or one for each row. */
import { randomUUID } from "node:crypto";
import Database from "better-sqlite3";
import express from "express";
import { sayPort } from "../../harness/say-port.ts";
import { sampleAttributes } from "../../ratios/sample.ts";

const { file, users, articles, commentsOfEach } = JSON.parse(process.argv[2] ?? "{}") as {
  file: string;
  users: number;
  articles: number;
  commentsOfEach: number;
};

interface Article {
  id: string;
  authorId: string;
  tags: string;
  author?: string;
  comments?: string;
}

const db = new Database(file);
db.pragma("journal_mode = WAL");
db.exec(`create table users (id text primary key, name text) without rowid;
  create table articles (id text primary key, title text, author text, publishedOn text, rating real, tags text,
    summary text, authorId text);
  create table comments (id text primary key, articleId text, text text);
  create index comments_of on comments (articleId, id)`);
fill();

const page = "select * from articles order by id limit ? offset ?";
const joined = db.prepare(`select a.*, json_object('id', u.id, 'name', u.name) as author,
    (select json_group_array(json_object('id', id, 'articleId', articleId, 'text', text))
      from (select * from comments where articleId = a.id order by id limit 3)) as comments
  from (${page}) as a left join users as u on u.id = a.authorId order by a.id`);
const rows = db.prepare(page);
const userOf = db.prepare("select * from users where id = ?");
const commentsOf = db.prepare("select * from comments where articleId = ? order by id limit 3");

const app = express();
app.get("/joined", ({ query }, response) => {
  const found = joined.all(Number(query.limit), Number(query.offset)) as Article[];
  response.json(
    found.map((each) => ({
      ...each,
      tags: JSON.parse(each.tags),
      author: JSON.parse(each.author ?? "null"),
      comments: JSON.parse(each.comments ?? "[]"),
    })),
  );
});
app.get("/rows", ({ query }, response) => {
  const found = rows.all(Number(query.limit), Number(query.offset)) as Article[];
  response.json(
    found.map((each) => ({
      ...each,
      tags: JSON.parse(each.tags),
      author: userOf.get(each.authorId),
      comments: commentsOf.all(each.id),
    })),
  );
});
const server = app.listen(0, "127.0.0.1", () => sayPort(server));

function fill(): void {
  const ids = (count: number) => Array.from({ length: count }, () => randomUUID());
  const [authors, made] = [ids(users), ids(articles)];
  const insert = {
    user: db.prepare("insert into users values (?, ?)"),
    article: db.prepare("insert into articles values (?, ?, ?, ?, ?, ?, ?, ?)"),
    comment: db.prepare("insert into comments values (?, ?, ?)"),
  };
  db.exec("begin");
  for (const [n, id] of authors.entries()) insert.user.run(id, `user ${n}`);
  for (const [n, id] of made.entries()) {
    const { title, author, publishedOn, rating, tags, summary } = sampleAttributes(n);
    const values = [title, author, publishedOn, rating, JSON.stringify(tags), summary];
    insert.article.run(id, ...values, authors[n % users]);
    for (let k = 0; k < commentsOfEach; k++)
      insert.comment.run(randomUUID(), id, `comment ${n * commentsOfEach + k}`.repeat(8));
  }
  db.exec("commit");
}
