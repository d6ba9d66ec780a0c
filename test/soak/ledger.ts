/** What must be in the store, from the responses. Each worker writes only to its own resources, one request at a time. */
import type { Answer } from "./client.ts";

/** The values that a resource can have: several if a response is missing. `null` means that it does not exist. */
export type Possible = Set<number | null>;

/** The resources of one worker. */
export class Ledger {
  readonly #resources = new Map<string, Possible>();
  /** Creates without a response: their ids are unknown. */
  unknownCreates = 0;

  get ids(): string[] {
    return [...this.#resources.keys()];
  }

  /** How many resources exist, as far as the responses say. */
  get size(): number {
    return this.#resources.size;
  }

  /** Notes a create. A response that is missing or 5xx says nothing about the write. */
  created(value: number, answer: Answer): string | undefined {
    if (answer?.status === 201) {
      const { id } = JSON.parse(answer.text) as { id: string };
      this.#resources.set(id, new Set([value]));
      return id;
    }
    if (isOpen(answer)) this.unknownCreates++;
    return undefined;
  }

  /** Notes a change to a value, or with `null` a delete. */
  changed(id: string, value: number | null, answer: Answer): void {
    if (isOpen(answer)) this.#resources.get(id)?.add(value);
    else if (answer !== undefined && answer.status < 300) this.#resources.set(id, new Set([value]));
  }

  /** The resources that are different in the store: each as a sentence. */
  faults(stored: ReadonlyMap<string, number>): string[] {
    return [...this.#resources].flatMap(([id, possible]) => {
      const found = stored.get(id) ?? null;
      return possible.has(found) ? [] : [`${id} is ${found}, not ${[...possible].join(" or ")}`];
    });
  }

  /** Forgets resources that were certainly deleted, so that a long soak does not need more and more memory. */
  forgetDeleted(): void {
    for (const [id, possible] of this.#resources)
      if (possible.size === 1 && possible.has(null)) this.#resources.delete(id);
  }
}

function isOpen(answer: Answer): boolean {
  return answer === undefined || answer.status >= 500;
}
