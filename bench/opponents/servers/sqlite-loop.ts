/** The yardstick for durable writes: a bare loop over node:sqlite, which commits and flushes each statement by itself. */
import { DatabaseSync } from "node:sqlite";
import { attributesOf } from "../../comparison/data.ts";

const { folder, durationMs, bytes } = JSON.parse(process.argv[2] as string) as {
  folder: string;
  durationMs: number;
  bytes: number;
};
const db = new DatabaseSync(`${folder}/loop.db`);
db.exec("pragma journal_mode = wal; pragma synchronous = full");
db.exec("create table if not exists articles (id text primary key, text text not null)");
const insert = db.prepare("insert into articles values (?, ?)");
const update = db.prepare("update articles set text = ? where id = ?");
const remove = db.prepare("delete from articles where id = ?");
const textOf = (n: number) => JSON.stringify({ id: idOf(n), ...attributesOf(n, bytes) });
const idOf = (n: number) => `01a1fe86-2bc5-7091-b38c-${String(n).padStart(12, "0")}`;

/** Until the time is over, or there is nothing more to do. */
function time(step: (n: number) => void, most = Number.POSITIVE_INFINITY) {
  const took: number[] = [];
  const endAt = performance.now() + durationMs;
  let now = performance.now();
  for (let n = 0; now < endAt && n < most; n++) {
    step(n);
    const after = performance.now();
    took.push(after - now);
    now = after;
  }
  const perSecond = took.length / (took.reduce((sum, ms) => sum + ms, 0) / 1000);
  took.sort((a, b) => a - b);
  return {
    count: took.length,
    perSecond,
    p50: took[Math.floor(took.length / 2)],
    p99: took[Math.floor(took.length * 0.99)],
  };
}

db.exec("delete from articles");
const create = time((n) => insert.run(idOf(n), textOf(n)));
const replace = time((n) => update.run(textOf(n + 1), idOf(n % create.count)));
const gone = time((n) => remove.run(idOf(n)), create.count);
process.stdout.write(JSON.stringify({ create, replace, delete: gone }));
