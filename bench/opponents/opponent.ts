/** The requests of the bench to each service, and in the same way to Holdfast. */
import type { RunOptions } from "../harness/commands.ts";
import type { Server } from "../harness/server.ts";

/** A service that keeps articles, filled and started by the bench. One file each, in this folder. */
export interface Opponent {
  /** The name on the command line and in results. */
  name: string;
  title: string;
  /** What an acknowledged write has behind it. */
  keeps: string;
  /** The checks of request bodies, and other differences that make the comparison unequal. */
  checks: string;
  /** Its parts with their versions. */
  versions(): string;
  /** Why it cannot run on this machine; `undefined` if it can. */
  missing(): string | undefined;
  /** Makes a store in a folder and puts the articles into it. */
  fill(folder: string, articles: Articles): Promise<void>;
  /** Starts it on what `fill` left. */
  start(folder: string, options: RunOptions): Promise<Server>;
  /** The bytes that the store of a folder takes. @default those of the folder's files */
  bytes?(folder: string): Promise<number>;
  says: Says;
  /** Scenarios that it has nothing for, and why. */
  cannot?: Readonly<Record<string, string>>;
}

/** Articles to fill with. */
export interface Articles {
  ids: readonly string[];
  /** All of them, an object on each line. */
  file: string;
}

/** How its interface spells the same requests. */
export interface Says {
  /** The path of the collection, which also receives creates. */
  collection: string;
  item(id: string): string;
  /** The first page of 20. */
  page: string;
  /** The first 20 of one author, the latest first. */
  filtered(author: string): string;
  /** The first page of 100 of all, from which links lead on. */
  walk?: string;
  /** The method that replaces. @default "PUT" */
  replace?: string;
  /** The type of the content of a PATCH. @default "application/json" */
  patchType?: string;
  /** More fields of each request that writes. */
  headers?: Record<string, string>;
}
