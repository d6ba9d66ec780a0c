/** Computed attributes of stored resources, in one thread: what is not computed yet, and in one of the threads the work on it. */
import type { Core, ThreadWork } from "../../../capability.ts";
import type { Collection } from "../../../collection/collection.ts";
import { StartError } from "../../../errors.ts";
import { Lease } from "../../../lease.ts";
import { isOvertaken } from "../../../records.ts";
import type { HookRunner } from "../hooks/hook-worker.ts";
import type { ComputedAttributes } from "../settings.ts";
import { completeStore, namedIn } from "./complete-store.ts";
import { Computation } from "./computation.ts";
import { ComputedRecords, forgetUndeclared, recordNow } from "./computed-records.ts";
import { Incomplete } from "./incomplete.ts";
import { Recompute } from "./recompute.ts";
import { Recomputing } from "./recomputing.ts";

/** The computed attributes of stored resources. */
export class ComputedWork {
  readonly #core: Core;
  readonly #declared: ReadonlyMap<string, ComputedAttributes>;
  readonly #records: ComputedRecords;
  readonly #recomputing: Recomputing;
  /** What computes each collection, with the functions in `#runner`. */
  readonly #recomputes = new Map<string, Recompute>();
  readonly #newRunner: () => Promise<HookRunner>;
  #runner: HookRunner | undefined;
  #isPrepared = false;
  #works = false;
  readonly incomplete: Incomplete;

  /** `newRunner` starts a worker for this work alone, so that requests do not wait for it. */
  constructor(
    core: Core,
    declared: ReadonlyMap<string, ComputedAttributes>,
    newRunner: () => Promise<HookRunner>,
  ) {
    const { store, service, isShared, clock } = core;
    const { newUuid, log } = service;
    this.#core = core;
    this.#declared = declared;
    this.#newRunner = newRunner;
    this.#records = new ComputedRecords(store);
    this.incomplete = new Incomplete(this.#records, declared, (name) => store.count(name));
    this.#recomputing = new Recomputing({
      lease: new Lease({ store, clock, isShared, newUuid }, "computed"),
      isComplete: (name) => this.incomplete.isComplete(name),
      recomputeOf: (name) => this.#recomputeOf(name),
      end: () => this.#endRunner(),
      warn: (text) => log.warn(text),
    });
  }

  /** The store as requests read it. */
  overStore = <S extends Core["service"]["store"]>(store: S): S =>
    completeStore(store, this.incomplete, (name) => this.#core.service.collections().get(name)?.search ?? []);

  /**
   * Notes what the configuration declares. Waits until the attributes that access rules name are complete, because a rule must not decide
   * by values that are missing. Throws StartError and the errors of the store.
   */
  async prepare({ works }: ThreadWork): Promise<void> {
    this.#requireOwnSources();
    if (works) await this.#note();
    await this.incomplete.look();
    const awaited = [...this.incomplete.names].filter((name) => this.#isInRules(name));
    if (works && awaited.length > 0) await this.#finish(awaited);
    else if (awaited[0] !== undefined && this.#core.service.readOnly) throw incompleteRule(awaited[0]);
    this.#isPrepared = true;
    this.#begin();
  }

  /** Begins the work as soon as the store is prepared. */
  start({ works }: ThreadWork): void {
    this.#works = works;
    this.#begin();
  }

  #begin(): void {
    const names = [...this.incomplete.names];
    if (!this.#isPrepared || !this.#works || names.length === 0) return;
    for (const name of names)
      this.#core.service.log.info(`collections.${name}.computed: stored resources are computed again.`);
    this.#recomputing.start(names);
  }

  async #finish(collections: readonly string[]): Promise<void> {
    this.#core.service.log.info(
      `The start waits for computed attributes that access rules name: ${collections.join(", ")}.`,
    );
    await this.#recomputing.finish(collections);
  }

  async stop(): Promise<void> {
    await this.#recomputing.stop();
  }

  /** Stores what the configuration declares now, and forgets what it no longer declares. */
  async #note(): Promise<void> {
    for (const [name, declared] of this.#declared) await this.#noteOne(name, declared);
    await forgetUndeclared(this.#records, this.#declared, this.#core.service.now());
  }

  async #noteOne(name: string, declared: ComputedAttributes): Promise<void> {
    const { store, service } = this.#core;
    const before = await this.#records.read(name);
    for (const [attribute, { version }] of declared) {
      const stored = before?.value.attributes[attribute]?.version ?? 0;
      if (stored > version) throw lowerVersion({ collection: name, attribute, version, stored });
    }
    const isEmpty = (await store.count(name)) === 0;
    const next = recordNow(before?.value, declared, { isEmpty });
    if (next === before?.value) return;
    try {
      await this.#records.write(name, before, next, { at: service.now() });
    } catch (error) {
      if (!isOvertaken(error)) throw error;
      await this.#noteOne(name, declared); // another instance has noted something
    }
  }

  /** Throws StartError if something is computed from an attribute that the service itself changes without computing. */
  #requireOwnSources(): void {
    for (const [name, declared] of this.#declared) {
      const mirrored = this.#core.service.participants.get(name)?.mirrored;
      for (const [attribute, { from }] of declared) {
        const found = [attribute, ...from].find((each) => mirrored?.attributes.includes(each));
        if (found === undefined) continue;
        throw new StartError(
          `collections.${name}.computed.${attribute}: the service itself changes "${found}" to what the account has, and computes nothing then. Compute without it.`,
        );
      }
    }
  }

  /** Whether an access rule names an attribute that this collection computes. */
  #isInRules(collection: string): boolean {
    const { access, collections } = this.#core.service;
    if (access === undefined) return false;
    const names = this.#declared.get(collection);
    return [...collections().keys()].some((each) =>
      Object.values(access.rulesOf(each)).some(({ alternatives = [] }) =>
        alternatives.some(
          ({ where }) =>
            where !== undefined &&
            namedIn(each, where.sample).some(
              (named) => named.collection === collection && names?.has(named.name),
            ),
        ),
      ),
    );
  }

  async #recomputeOf(name: string): Promise<Recompute> {
    const known = this.#recomputes.get(name);
    if (known !== undefined) return known;
    const { store, service } = this.#core;
    this.#runner ??= await this.#newRunner();
    const { limits } = service.settings;
    const declared: ComputedAttributes = this.#declared.get(name) ?? new Map();
    const recompute = new Recompute({
      store,
      records: this.#records,
      collection: service.collections().get(name) as Collection,
      declared,
      computation: new Computation(name, declared, { runner: this.#runner, limits }),
      now: service.now,
      log: service.log,
    });
    this.#recomputes.set(name, recompute);
    return recompute;
  }

  /** Ends the worker of the functions. Further work starts a new one. */
  async #endRunner(): Promise<void> {
    const runner = this.#runner;
    this.#runner = undefined;
    this.#recomputes.clear();
    await runner?.stop();
  }
}

function lowerVersion(about: { collection: string; attribute: string; version: number; stored: number }) {
  const { collection, attribute, version, stored } = about;
  return new StartError(
    `collections.${collection}.computed.${attribute}.version is ${version}, but the store has values of version ${stored}. To go back to an earlier function, give it a higher version: ${stored + 1}.`,
  );
}

function incompleteRule(collection: string): StartError {
  return new StartError(
    `An access rule names a computed attribute of ${collection} that is not complete, and a read-only service does not compute. Start the service once without readOnly.`,
  );
}
