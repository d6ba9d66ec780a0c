/** Images that are broken by hand, one for each thing that the judge looks at. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { generator } from "../seed.ts";
import { changeFile } from "../store/mend-checksums.ts";
import { Disk, everything } from "./disk.ts";
import { Outside } from "./explore.ts";
import { Judge } from "./judge.ts";
import { type Recording, storeName } from "./recording.ts";

const last = (table: string, column: string) => `${column} = (select max(${column}) from ${table})`;

/** Resources whose text is not the base of a difference: without this, the judge would only say that the change log cannot be read. */
const isNoBase = (collection: number) =>
  `not exists (select 1 from changes_${collection} as each where each.id = cast(resources_${collection}.id as text)
    and each.version = resources_${collection}.version and each.superseded like '~%')`;

/** The last of these resources. */
const lastWithoutDifference = (collection: number) =>
  `key = (select max(key) from resources_${collection} where ${isNoBase(collection)})`;

/** Damage to a good store, and the expected faults. Collections are numbered in the order of the configuration. */
const breaks: readonly { what: string; sql: string; fault: RegExp }[] = [
  {
    what: "a resource is lost",
    sql: `delete from resources_1 where ${last("resources_1", "key")}`,
    fault: /^authors: there are \d+ resources, but the store says \d+/,
  },
  {
    what: "a resource has another text",
    sql: `update resources_1 set doc = json_set(doc, '$.text', 'other') where ${lastWithoutDifference(1)}`,
    fault: /^c\d: after \d+ acknowledged requests/,
  },
  {
    what: "a head row is behind",
    sql: "update heads set sequence = sequence - 1 where number = 1",
    fault: /^authors: there are \d+ changes, but the store says \d+/,
  },
  {
    what: "the change log has a gap",
    sql: `update changes_1 set sequence = sequence + 1 where ${last("changes_1", "sequence")}`,
    fault: /^authors: the change log has a gap/,
  },
  {
    what: "a change has another version",
    sql: `update changes_2 set version = version + 1 where ${last("changes_2", "sequence")}`,
    fault: /^books: the changes of \d+ do not lead to its version/,
  },
  {
    what: "the history has another text",
    // No difference is made from these texts.
    sql: `update changes_2 as each set superseded = json_set(superseded, '$.text', 'other') where superseded like '{%'
      and not exists (select 1 from changes_2 where id = each.id and version = each.version - 1 and superseded like '~%')`,
    fault: /^c\d: the history of books\/\w+ has other versions than were written/,
  },
  {
    what: "the history has a difference from another text",
    sql: "update changes_2 set superseded = replace(superseded, 'winter', 'autumn')",
    // The word can also be in whole texts only.
    fault: /differs from another text than the next one|match checksum|has other versions than were written/,
  },
  {
    what: "a word is lost",
    sql: `delete from search_2 where rowid = (select max(key) from resources_2)`,
    fault: /^books: a search for \w+ finds 0 resources, but 1 have it/,
  },
  {
    what: "a word of a resource that does not exist is left",
    sql: "insert into search_2 (rowid, words) values (999999, 'winter summer')",
    fault: /^books: a search for (winter|summer) finds \d+ resources, but \d+ have it/,
  },
  {
    what: "a receipt is lost",
    sql: `delete from receipts where ${last("receipts", "key")}`,
    fault: /^key-\S+ is lost after \d+ requests/,
  },
  {
    what: "the receipts are counted wrongly",
    sql: "update meta set value = value + 1 where name = 'receipts'",
    fault: /^there are \d+ receipts, but the store says \d+/,
  },
  {
    what: "a stored response is another one",
    sql: "update receipts set answer = json_set(answer, '$.body', '{}') where json_valid(answer)",
    fault: /has another response than the client got/,
  },
  {
    what: "a unique value exists twice",
    sql: `update resources_1 set doc = json_set(doc, '$.email', 'same') where ${isNoBase(1)}`,
    fault: /^authors: two resources have the same email/,
  },
  {
    what: "a reference leads nowhere",
    sql: `update resources_2 set doc = json_set(doc, '$.authorId', 'none') where ${lastWithoutDifference(2)}`,
    fault: /^books: \d+ refers to a resource that does not exist/,
  },
  {
    what: "an integer id can be given again",
    sql: "update heads set last_id = 0 where number = 2",
    fault: /^books: the id \d+ would be given again/,
  },
  {
    what: "the store has another secret",
    sql: "update meta set value = value + 1 where name = 'secret_1'",
    fault: /^the store has another secret/,
  },
  {
    what: "a counter has lost what a client has added",
    sql: `update resources_4 set doc = json_remove(doc, '$.log[0]')`,
    fault: /^c\d: the counter \w+ has .*, but the client has added/,
  },
  {
    what: "a change that a client has received has another place",
    // The first two changes of books are creates.
    sql: `update changes_2 set sequence = -1 where sequence = 1; update changes_2 set sequence = 1 where sequence = 2;
      update changes_2 set sequence = 2 where sequence = -1`,
    fault: /^c\d has received other changes of books than the first \d+, from number 1/,
  },
  {
    what: "an API key is lost",
    sql: "delete from keys",
    fault: /^the API key key\d is lost/,
  },
  {
    what: "a webhook is past changes that it was not sent",
    sql: `insert into changes_2 select sequence + 1, 'other', 1, kind, at, principal, "group", null, null, 0 from changes_2
        order by sequence desc limit 1;
      update resources_6 set doc = json_set(doc, '$.marks.books[0]', 100000)`,
    fault: /^the webhook is past the change other\/1 of books, which was not sent/,
  },
  {
    what: "an erased text is still there",
    sql: `create table rest as select 'ERASED' as text`,
    fault: /^the erased text \S+ is still in the file/,
  },
  {
    what: "an index lacks entries",
    sql: `drop index changes_1_by_resource;
      create index changes_1_by_resource on changes_1 (id, version) where version > 1;
      pragma writable_schema = on;
      update sqlite_schema set sql = replace(sql, ' where version > 1', '') where name = 'changes_1_by_resource'`,
    fault: /wrong # of entries in index|row \d+ missing from index/,
  },
];

/** The damage that a session makes possible: not every session has erased something. */
export function possibleBreaks(recording: Recording): typeof breaks {
  return breaks.filter(({ sql }) => !sql.includes("ERASED") || erasedText(recording) !== undefined);
}

function erasedText({ clients }: Recording): string | undefined {
  return clients.flatMap(({ requests }) => requests.flatMap(({ erases }) => erases?.text ?? []))[0];
}

/** The faults in the last image of a session, and in the same image after `sql`. */
export async function judgeBroken(
  recording: Recording,
  { sql, folder }: { sql: string; folder: string },
): Promise<{ good: string[]; broken: string[] }> {
  const disk = new Disk();
  const outside = new Outside(recording);
  for (const event of recording.events)
    if ("step" in event) disk.apply(event.at, event.step);
    else outside.note(event);
  const image = disk.image(everything, generator());
  const judge = new Judge(join(folder, "judged"), recording);
  const good = judge.faultsOf(image, outside.known);
  const sqlOfBreak = sql.replace("ERASED", erasedText(recording) ?? "");
  const broken = await changed(image, sqlOfBreak, join(folder, "changed"));
  return { good, broken: judge.faultsOf(broken, outside.known) };
}

/** The judge looks for wrong contents. Without the checksums of these contents, a read would only say that they are damaged. */
async function changed(
  image: ReadonlyMap<string, Buffer>,
  sql: string,
  folder: string,
): Promise<Map<string, Buffer>> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, bytes] of image) writeFileSync(join(folder, name), bytes);
  const path = join(folder, storeName);
  const database = new DatabaseSync(path, { defensive: false });
  database.exec(sql);
  database.close(); // as the last connection, it moves the log into the file
  await changeFile(path, "");
  return new Map([[storeName, readFileSync(path)]]);
}
