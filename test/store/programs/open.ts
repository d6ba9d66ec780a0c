/** Opens the given store, optionally only for reading. Prints the outcome, and keeps the store open until its input ends or it is killed. */
import { StartError } from "../../../src/errors.ts";
import { openReader, openStore } from "../../../src/store/open.ts";

try {
  const [path = "", what] = process.argv.slice(2);
  const open = what === "reader" ? openReader : openStore;
  const store = await open({ kind: "sqlite", path });
  process.stdout.write("opened\n");
  process.stdin.resume();
  process.stdin.once("end", () => void store.close());
} catch (error) {
  process.stdout.write(`${error instanceof StartError ? "StartError" : "fault"}: ${error}\n`);
  process.exitCode = 1;
}
