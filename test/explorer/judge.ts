/** Compares an image of the disk with the responses that clients received, by a reader that shares no code with the service. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultHistory } from "../../src/store/history.ts";
import { prepareFile } from "../../src/store/sqlite/file/open-file.ts";
import { openWriter } from "../../src/store/sqlite/writer/open-writer.ts";
import type { ClientLog } from "./actor.ts";
import { faultsOfClient } from "./judge-client.ts";
import { faultsOfContents, type Parse } from "./judge-contents.ts";
import { storeName } from "./recording.ts";
import { type Contents, readStore } from "./store-file.ts";

/** How many requests of each client had been acknowledged when the power failed. */
export type Acknowledged = ReadonlyMap<ClientLog, number>;

/** The service is also started on one image of so many. It is always started before the first response. */
const startEvery = 4;

/** Judges the images of one session, one after the other. */
export class Judge {
  readonly #folder: string;
  /** The secret of the store, once a client has a response. */
  #secret: string | undefined;
  #images = 0;
  readonly #texts = new Map<string, ReturnType<Parse>>();

  /** Images are written to `folder`, one in the place of the other. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The faults of an image. Empty if it is right. */
  faultsOf(image: ReadonlyMap<string, Buffer>, acknowledged: Acknowledged): string[] {
    const isUnused = [...acknowledged.values()].every((count) => count === 0);
    const isStarted = isUnused || this.#images++ % startEvery === 0;
    const path = join(this.#folder, storeName);
    const faultsOf = (contents: Contents) => this.#faultsOfContents(contents, acknowledged);
    try {
      this.#put(image);
      // Before the first response the store can be missing or empty. The service must still start.
      if (!isUnused) {
        const faults = readStore(path, faultsOf);
        if (faults.length > 0 || !isStarted) return faults;
        this.#put(image);
      }
      startService(path);
      return readStore(path, faultsOf).map((fault) => `after a start of the service, ${fault}`);
    } catch (error) {
      return [`it cannot be opened: ${error}`.replaceAll(`${this.#folder}/`, "")];
    }
  }

  #put(image: ReadonlyMap<string, Buffer>): void {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { recursive: true });
    for (const [name, bytes] of image) {
      mkdirSync(dirname(join(this.#folder, name)), { recursive: true });
      writeFileSync(join(this.#folder, name), bytes);
    }
  }

  #faultsOfContents(contents: Contents, acknowledged: Acknowledged): string[] {
    return [
      ...this.#faultsOfSecret(contents, acknowledged),
      ...faultsOfContents(contents, this.#parse),
      ...[...acknowledged].flatMap(([client, count]) => faultsOfClient(client, count, contents, this.#parse)),
    ];
  }

  readonly #parse: Parse = (text) => {
    const parsed = this.#texts.get(text) ?? (JSON.parse(text) as ReturnType<Parse>);
    this.#texts.set(text, parsed);
    return parsed;
  };

  #faultsOfSecret({ secret }: Contents, acknowledged: Acknowledged): string[] {
    if ([...acknowledged.values()].some((count) => count > 0)) this.#secret ??= secret;
    return this.#secret === undefined || this.#secret === secret ? [] : ["the store has another secret"];
  }
}

/** Opens and closes a store as the service does. */
function startService(path: string): void {
  prepareFile(path);
  openWriter({ path, synchronous: "FULL", groupCommit: true, history: defaultHistory }).perform({
    kind: "close",
  });
}
