/** Compares an image of the disk with what clients, commands and the receiver know, by a reader that shares no code with the service. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { ClientLog } from "./actor.ts";
import { erasedBefore, faultsOfClient, type Store } from "./judge-client.ts";
import { faultsOfContents, type Parse } from "./judge-contents.ts";
import { type Command, logName, putImage, type Recording, storeName } from "./recording.ts";
import { startStore } from "./start-store.ts";
import { type Contents, readStore } from "./store-file.ts";

/** How many requests of each client had been acknowledged. */
export type Acknowledged = ReadonlyMap<ClientLog, number>;

/** What the world outside knew when the power failed. */
export interface Known {
  acknowledged: Acknowledged;
  /** What was acknowledged when each command started. */
  started: ReadonlyMap<string, Acknowledged>;
  /** The commands that have ended. */
  ended: ReadonlySet<string>;
  /** The changes of books that were sent to the webhook, as id and version. */
  delivered: ReadonlySet<string>;
}

/** The service is also started on one image of so many. It is always started before the first response. */
const startEvery = 4;

/** Judges the images of one session, one after the other. */
export class Judge {
  readonly #folder: string;
  readonly #recording: Recording;
  readonly #start: typeof startStore;
  /** The secret of the store, once a client has a response. */
  #secret: string | undefined;
  #images = 0;
  readonly #texts = new Map<string, ReturnType<Parse>>();
  /** Copies that are right, by their names and bytes. */
  readonly #rightCopies = new Set<string>();

  /** Images are written to `folder`, one in the place of the other. `start` opens and closes a store. */
  constructor(folder: string, recording: Recording, start = startStore) {
    this.#start = start;
    this.#folder = folder;
    this.#recording = recording;
  }

  /** The faults of an image. Empty if it is right. */
  faultsOf(image: ReadonlyMap<string, Buffer>, known: Known): string[] {
    const isUnused = [...known.acknowledged.values()].every((count) => count === 0);
    const isStarted = isUnused || this.#images++ % startEvery === 0;
    const path = join(this.#folder, storeName);
    const faultsOf = (contents: Contents) => this.#faultsOfContents(contents, known);
    try {
      this.#put(image);
      // Before the first response the store can be missing or empty. The service must still start.
      if (!isUnused) {
        const faults = [
          ...readStore(path, faultsOf),
          ...faultsOfErasures(image, known),
          ...this.#faultsOfCopies(image, known),
        ];
        if (faults.length > 0 || !isStarted) return faults;
        this.#put(image);
      }
      this.#start(path);
      return readStore(path, faultsOf).map((fault) => `after a start of the service, ${fault}`);
    } catch (error) {
      return [`it cannot be opened: ${error}`.replaceAll(`${this.#folder}/`, "")];
    }
  }

  #put(image: ReadonlyMap<string, Buffer>): void {
    rmSync(this.#folder, { recursive: true, force: true });
    putImage(image, this.#folder);
  }

  #faultsOfContents(contents: Contents, known: Known): string[] {
    const store = this.#storeOf(contents);
    const keys = this.#recording.commands.filter(({ kind }) => kind === "key").map(({ name }) => name);
    return [
      ...this.#faultsOfSecret(contents, known),
      ...faultsOfContents(contents, store),
      ...[...known.acknowledged].flatMap(([client, count]) => faultsOfClient(client, store, count)),
      ...keys
        .filter((name) => known.ended.has(name) && !contents.keys.includes(name))
        .map((name) => `the API key ${name} is lost`),
      ...this.#faultsOfDeliveries(contents, known),
    ];
  }

  #storeOf(contents: Contents): Store {
    return { contents, parse: this.#parse, keepsAll: this.#recording.keepsAll };
  }

  readonly #parse: Parse = (text) => {
    const parsed = this.#texts.get(text) ?? (JSON.parse(text) as ReturnType<Parse>);
    this.#texts.set(text, parsed);
    return parsed;
  };

  #faultsOfSecret({ secret }: Contents, { acknowledged }: Known): string[] {
    if ([...acknowledged.values()].some((count) => count > 0)) this.#secret ??= secret;
    return this.#secret === undefined || this.#secret === secret ? [] : ["the store has another secret"];
  }

  /** What was sent is on the disk, and no webhook is past a change that was not sent. */
  #faultsOfDeliveries({ collections, handled }: Contents, { delivered }: Known): string[] {
    const books = collections.find(({ name }) => name === "books");
    const changes =
      books?.changes.map(({ sequence, id, version }) => ({ sequence, is: `${id}/${version}` })) ?? [];
    const place = handled.length === 0 ? 0 : Math.min(...handled);
    const logged = new Set(changes.map(({ is }) => is));
    const lost = this.#recording.keepsAll ? [...delivered].filter((is) => !logged.has(is)) : [];
    const skipped = changes.filter(({ sequence, is }) => sequence <= place && !delivered.has(is));
    return [
      ...lost.map((is) => `the webhook was sent the change ${is} of books, which is lost`),
      ...skipped.map(({ is }) => `the webhook is past the change ${is} of books, which was not sent`),
    ];
  }

  /** Each copy is complete once its command has ended. Before that, it can be missing, empty or marked as incomplete. */
  #faultsOfCopies(image: ReadonlyMap<string, Buffer>, known: Known): string[] {
    return this.#recording.commands.flatMap(({ kind, name }) => {
      if (kind === "key" || !known.started.has(name)) return [];
      const files = [...image].filter(([file]) => file.startsWith(name));
      const print = files.map(([file, bytes]) => `${file} ${bytes.length} ${crc32(bytes)}`).join();
      if (this.#rightCopies.has(print)) return [];
      try {
        if (!image.has(name)) return known.ended.has(name) ? [`${name} is lost`] : [];
        const path = join(this.#folder, name);
        const faults = readStore(path, (contents) => this.#faultsOfCopy(contents, { kind, name }, known));
        if (faults.length === 0 && known.ended.has(name)) this.#rightCopies.add(print);
        return faults.map((fault) => `${name}: ${fault}`);
      } catch (error) {
        return [`${name} cannot be opened: ${error}`];
      }
    });
  }

  #faultsOfCopy(
    contents: Contents,
    { kind, name }: Command,
    { started, ended, acknowledged }: Known,
  ): string[] {
    // A copy begins with a store that has no collections.
    const hasBegun = !contents.isIncomplete && contents.collections.length > 0;
    if (kind === "copy" && !ended.has(name) && !hasBegun) return [];
    if (contents.isIncomplete) return ["it is incomplete"];
    const store = this.#storeOf(contents);
    return [
      ...faultsOfContents(contents, store),
      ...[...acknowledged].flatMap(([client, count]) =>
        faultsOfClient(client, store, started.get(name)?.get(client) ?? 0, count + 1),
      ),
    ];
  }
}

/** After an erasure, neither the file nor its log has the text. */
function faultsOfErasures(image: ReadonlyMap<string, Buffer>, { acknowledged }: Known): string[] {
  const files = [storeName, logName].flatMap((name) => image.get(name) ?? []);
  return [...acknowledged]
    .flatMap(([client, count]) => erasedBefore(client, count))
    .filter(({ text }) => files.some((bytes) => bytes.includes(text)))
    .map(({ text }) => `the erased text ${text} is still in the file`);
}
