/** The transaction of an import as the store sees it. It is open in the writer thread. */
import { StartError } from "../../../errors.ts";
import type { LoadTransaction } from "../../core/loads.ts";
import type { ImportedResource, LoadOptions } from "../../port/load.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { WriterRequests } from "./writer-client.ts";

/** Starts an import into the collection with this number, or into one that it creates. Throws StartError. */
export async function beginLoad(
  requests: WriterRequests,
  into: number | CollectionRecord,
  options: Required<LoadOptions>,
): Promise<LoadTransaction> {
  const begin = (each: number | CollectionRecord) => {
    const toError = typeof each === "object" ? (message: string) => new StartError(message) : undefined;
    return requests.run("load", [each, { at: Date.now(), ...options }], toError);
  };
  let collection = await begin(into);
  return {
    async next(record) {
      collection = await begin(record);
    },
    add: (resources) => requests.run("add", [cellsOf(resources)]),
    reserve: (n) => requests.run("reserve", [collection, n]),
    async check() {
      await requests.run("checkLoad", []);
    },
    async commit() {
      await requests.run("finish", []);
    },
    rollBack: () => requests.send("cancel"),
  };
}

function cellsOf(resources: readonly ImportedResource[]): string[] {
  const cells: string[] = [];
  for (const { id, text } of resources) cells.push(id, text);
  return cells;
}
