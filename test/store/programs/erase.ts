/** Erases a resource up to the end of its transaction, says so, and waits to be killed. */
import { defaultHistory } from "../../../src/store/port/history.ts";
import { openWriter } from "../../../src/store/sqlite/writer/open-writer.ts";

const [path = "", id = ""] = process.argv.slice(2);
const writer = openWriter({ path, synchronous: "FULL", groupCommit: true, history: defaultHistory });
const { kind } = writer.perform({ kind: "erase", collection: 1, id });
process.stdout.write(`${kind}\n`);
setInterval(() => {}, 1_000);
