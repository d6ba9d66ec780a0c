/** The caller of a feed. Its rights and collections can change while it waits for events. */
import { anyCollection } from "../../changes/commit-watch.ts";
import type { Mark, Position } from "../../changes/position.ts";
import { noChange } from "../../changes/position.ts";
import type { Subscription } from "../operations/operation.ts";
import type { HttpRequest } from "../protocol/message.ts";
import type { Feed, Service } from "../service.ts";

/** No event is sent on a credential that was checked longer ago than this, in milliseconds. */
const judgedMs = 1_000;

/** A caller that waits for events. */
export class Subscriber {
  readonly #service: Service;
  readonly #request: HttpRequest;
  #subscription: Subscription;
  #viewsName: string | undefined;
  #judgedAt = performance.now();

  constructor(service: Service, subscription: Subscription, request: HttpRequest) {
    this.#service = service;
    this.#subscription = subscription;
    this.#request = request;
  }

  get views(): Subscription["views"] {
    return this.#subscription.views;
  }

  /** Equal for subscribers that see the same. */
  get viewsName(): string {
    this.#viewsName ??= JSON.stringify(
      this.views.map(({ collection, source, listed, filter, fields }) => [
        source,
        listed,
        filter,
        fields,
        [...(collection.visibility?.hidden ?? [])],
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

  /** Checks the credential if the last check is too old, and finds new collections. Throws if it can no longer follow. */
  async refresh(): Promise<void> {
    const { authenticate } = this.#service;
    const isOld = authenticate !== undefined && performance.now() - this.#judgedAt > judgedMs;
    if (!isOld && !this.#subscription.isOpen) return;
    const { caller, renew } = this.#subscription;
    const judgedAt = performance.now();
    const principal = isOld ? await authenticate(this.#request.headers) : caller.principal;
    this.#subscription = renew({ ...caller, principal });
    this.#viewsName = undefined;
    if (isOld) this.#judgedAt = judgedAt;
  }
}

/** Collections that are new since a position join from their first change. */
export function withNew(position: Position, names: readonly string[]): Position {
  const known = new Map(position.map((mark) => [mark.collection, mark]));
  if (known.size === names.length && names.every((name) => known.has(name))) return position;
  return names.map((name): Mark => known.get(name) ?? { collection: name, sequence: 0, check: noChange });
}
