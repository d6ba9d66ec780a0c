/** Opens the store that it is told to, says how that went, and keeps it open until its input ends or it is killed. */
import { StartError } from "../../../src/errors.ts";
import { openStore } from "../../../src/store/open.ts";

try {
  const store = await openStore({ kind: "sqlite", path: process.argv[2] as string });
  process.stdout.write("opened\n");
  process.stdin.resume();
  process.stdin.once("end", () => void store.close());
} catch (error) {
  process.stdout.write(`${error instanceof StartError ? "StartError" : "fault"}: ${error}\n`);
  process.exitCode = 1;
}
