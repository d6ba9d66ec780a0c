/** The transaction of an import as the store sees it. It is open in the writer thread. */
import { StartError } from "../../../errors.ts";
import type { LoadTransaction } from "../../core/loads.ts";
import type { ImportedResource, LoadOptions } from "../../port/load.ts";
import type { CollectionRecord } from "../../port/record.ts";
import type { WriterRequests } from "./writer-requests.ts";

/** Starts an import into the collection with this number, or into one that it creates. Throws StartError. */
export async function beginLoad(
  requests: WriterRequests,
  into: number | CollectionRecord,
  options: Required<LoadOptions>,
): Promise<LoadTransaction> {
  const begin = async (each: number | CollectionRecord) => {
    const request = { kind: "load", into: each, at: Date.now(), ...options } as const;
    const toError = typeof each === "object" ? (message: string) => new StartError(message) : undefined;
    return (await requests.sendFor("loading", request, toError)).collection;
  };
  let collection = await begin(into);
  return {
    async next(record) {
      collection = await begin(record);
    },
    async add(resources) {
      return (await requests.sendFor("added", { kind: "add", cells: cellsOf(resources) })).refused;
    },
    async reserve(n) {
      return (await requests.sendFor("reserved", { kind: "reserve", collection, n })).first;
    },
    async check() {
      await requests.sendFor("done", { kind: "checkLoad" });
    },
    async commit() {
      await requests.sendFor("done", { kind: "finish" });
    },
    async rollBack() {
      await requests.send({ kind: "cancel" });
    },
  };
}

function cellsOf(resources: readonly ImportedResource[]): string[] {
  const cells: string[] = [];
  for (const { id, text } of resources) cells.push(id, text);
  return cells;
}
