/** What a configuration says about a consumer. */
import type { ChangeKind } from "../../../store/port/change-log.ts";
import type { Acting } from "../calls/acting.ts";

/** One consumer: `after` of a collection. */
export interface ConsumerSettings {
  /** The name of its collection and its own, such as `orders/mail`. */
  readonly name: string;
  /** The collection whose changes it gets. */
  readonly collection: string;
  /** Its own name, such as `mail`. */
  readonly member: string;
  /** The place of its function in the configuration. */
  readonly place: string;
  /** The kinds of changes that it gets. */
  readonly types: readonly ChangeKind[];
  /** A filter as in the body of a QUERY request; `undefined` for none. */
  readonly filter: unknown;
  /** The attributes of the data, or those that it leaves out; `undefined` for all. */
  readonly fields: readonly string[] | undefined;
  /** The caller of its requests; `undefined`: it has no client. */
  readonly as: Acting | undefined;
  /** Who could see what it gets. */
  readonly sees: Acting;
  /** How long one call can take. */
  readonly timeoutMs: number;
  /** How many calls run at the same time. */
  readonly concurrency: number;
  /** Where a new consumer begins: after the last change, or at the oldest change that the history has. */
  readonly from: "now" | "start";
  /** Whether it also gets the changes that its own client makes. */
  readonly own: boolean;
}
