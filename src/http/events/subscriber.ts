/** The caller of a feed. Its rights and collections can change while it waits for events. */
import { invalidToken } from "../../access/challenges.ts";
import type { Principal } from "../../access/principal.ts";
import { anyCollection } from "../../changes/commit-watch.ts";
import { type Mark, noChange, type Position } from "../../changes/position.ts";
import { isRelative, timelessText } from "../../query/filter.ts";
import { logStart } from "../../store/port/log-place.ts";
import { identify, requireReady } from "../caller/admit.ts";
import type { Subscription } from "../operations/operation.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Feed, Service } from "../service.ts";

/**
 * How long a check of the credential is good, in milliseconds. With the time for which keys are cached (`credential-ring.ts`) it is a
 * second: no event is sent on a credential that was read longer ago.
 */
const checkedMs = 100;

/** A caller that waits for events. */
export class Subscriber {
  readonly #service: Service;
  readonly #request: HttpRequest;
  #subscription: Subscription;
  #viewsName: string | undefined;
  #checkedAt: number;

  constructor(service: Service, subscription: Subscription, request: HttpRequest) {
    this.#service = service;
    this.#subscription = subscription;
    this.#request = request;
    this.#checkedAt = service.elapsed();
  }

  get views(): Subscription["views"] {
    return this.#subscription.views;
  }

  /** Equal for subscribers that see the same. */
  get viewsName(): string {
    this.#viewsName ??= timelessText(
      this.views.map(({ collection, present, source, listed, filter, fields }) => [
        source,
        listed,
        filter,
        fields,
        [...(collection.visibility?.hidden ?? [])],
        [...(present?.visibility?.hidden ?? [])],
      ]),
    );
    return this.#viewsName;
  }

  get names(): string[] {
    return this.views.map(({ collection }) => collection.name);
  }

  /** The commits so far in the collections that it follows; it can follow collections that do not exist yet. */
  commits(): ReadonlyMap<string, number> {
    const { watch } = this.#service.feed as Feed;
    const names = this.#subscription.isOpen ? [anyCollection] : this.names;
    return new Map(names.map((name) => [name, watch.commits(name)]));
  }

  /** Whether its rights can change while it waits. */
  get hasCredential(): boolean {
    return this.#subscription.caller.principal !== undefined;
  }

  /** Whether the credential must be checked again before events are sent. */
  get isOld(): boolean {
    return this.#service.authenticate !== undefined && this.#service.elapsed() - this.#checkedAt > checkedMs;
  }

  /** Checks the credential if the last check is too old, and finds new collections. Throws if it can no longer follow. */
  async refresh(): Promise<void> {
    const { caller, renew, isOpen } = this.#subscription;
    const principal = this.isOld ? await this.#authenticate() : caller.principal;
    const isTimed = this.views.some(({ listed }) => typeof listed !== "string" && isRelative(listed));
    if (principal === caller.principal && !isOpen && !isTimed) return;
    this.#subscription = renew({ ...caller, principal });
    this.#viewsName = undefined;
  }

  async #authenticate(): Promise<Principal | undefined> {
    const checkedAt = this.#service.elapsed();
    const principal = await identify(this.#service, this.#request);
    if (principal === undefined && this.hasCredential) throw invalidToken("The session has ended.");
    if (principal !== undefined) await requireReady(this.#service, principal);
    this.#checkedAt = checkedAt;
    return principal;
  }
}

/** Collections that are new since a position join from their first change. */
export function withNew(position: Position, names: readonly string[]): Position {
  const known = new Map(position.map((mark) => [mark.collection, mark]));
  if (known.size === names.length && names.every((name) => known.has(name))) return position;
  return names.map(
    (name): Mark => known.get(name) ?? { collection: name, sequence: logStart, check: noChange },
  );
}
