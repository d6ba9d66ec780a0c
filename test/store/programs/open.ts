/** Opens the store that it is told to, to read alone where it is told so too, says how that went, and keeps it open until its input ends or it is killed. */
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
