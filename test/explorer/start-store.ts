/** Opens and closes the store at a path as a start and an orderly stop of the service do. */
import { defaultHistory } from "../../src/store/port/options.ts";
import { prepareFile } from "../../src/store/sqlite/file/open-file.ts";
import { openWriter } from "../../src/store/sqlite/writer/writer.ts";

/** Opens and closes a store. */
export function startStore(path: string): void {
  prepareFile(path);
  const settings = { path, synchronous: "FULL", groupCommit: true, history: defaultHistory } as const;
  openWriter(settings).perform({ name: "close", args: [] });
}

if (import.meta.main) startStore(process.argv[2] ?? "");
