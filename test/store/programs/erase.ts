/** Erases a resource up to the end of its transaction, says so, and waits to be killed. */
import { defaultHistory } from "../../../src/store/port/options.ts";
import { openWriter } from "../../../src/store/sqlite/writer/writer.ts";

const [path = "", id = ""] = process.argv.slice(2);
const writer = openWriter({ path, synchronous: "FULL", groupCommit: true, history: defaultHistory });
const answer = writer.perform({ name: "erase", args: [1, id] });
process.stdout.write(`${"result" in answer ? "erased" : JSON.stringify(answer)}\n`);
setInterval(() => {}, 1_000);
