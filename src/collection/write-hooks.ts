/** Functions of the operator that take part in the writes of declared collections. This room does not know how they run. */
import { Problem, type Violation } from "../errors.ts";
import type { Collection } from "./collection.ts";
import { type Proposal, textOf, violationsOf } from "./proposal.ts";
import type { Attributes } from "./resource.ts";

/** The functions of all collections. */
export interface WriteHooks {
  /** Those of a collection; `undefined` if it has none. */
  of(collection: string): CollectionHooks | undefined;
}

/** The functions of one collection. They read nothing but what they get, so a write can call them again. */
export interface CollectionHooks {
  /** Completes the attributes that a write proposes, before they are checked. Throws Problem. @default they are complete */
  readonly complete?: (write: HookedWrite, attributes: Attributes) => Promise<Attributes>;
  /** Judges the next text of a resource, or the text that a delete removes, after all rules. Throws Problem. @default it allows all */
  readonly validate?: (write: HookedWrite, text: string) => Promise<void>;
}

/** A write, as its functions see it. */
export interface HookedWrite {
  /** The collection as the caller sees it. */
  readonly collection: Collection;
  /** Whether the caller can read the resource. Otherwise, an error must not name attributes. */
  readonly canRead: boolean;
  readonly operation: "create" | "update" | "delete" | "restore";
  /** The id; `undefined` while the service has not chosen it. */
  readonly id: string | undefined;
  /** The stored text; `undefined` if the resource does not exist. */
  readonly previous: string | undefined;
  readonly caller: HookedCaller | undefined;
  /** Unix time in milliseconds. */
  readonly now: number;
  /** The request or the task. All functions that run for it share its time. */
  readonly request: { readonly id: string };
  /** Reads the text of another resource as the write sees it. */
  read(key: { collection: string; id: string }): Promise<string | undefined>;
}

/** The caller of a write. */
export interface HookedCaller {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The hooks of a collection for many writes of one request, such as an import. */
export interface HooksOfRequest {
  readonly hooks: CollectionHooks;
  readonly write: Omit<HookedWrite, "id" | "previous" | "operation">;
}

/** One resource that such a request writes. */
export type HookedItem = Pick<HookedWrite, "id" | "previous" | "operation">;

/** Completes a proposal with the hooks of a request, if there are some. Throws what they throw. */
export async function completeProposal<P extends Proposal>(
  proposal: P,
  item: HookedItem,
  of: HooksOfRequest | undefined,
): Promise<P> {
  if (of?.hooks.complete === undefined) return proposal;
  const attributes = await of.hooks.complete(writeOf(of, item), proposal.attributes);
  return { ...proposal, attributes };
}

/** What is wrong with a proposal, also by the hooks of a request. Throws CODE_FAILED and UNAVAILABLE. */
export async function hookedViolations(
  proposal: Proposal,
  item: HookedItem,
  of: HooksOfRequest | undefined,
): Promise<readonly Violation[]> {
  const found = violationsOf(proposal);
  if (found.length > 0 || of?.hooks.validate === undefined) return found;
  return hookRefusals(hookedText(proposal, item), item, of);
}

/** What the hooks of a request refuse in a text: the next one, or the one that a delete removes. Throws CODE_FAILED and UNAVAILABLE. */
export async function hookRefusals(
  text: string,
  item: HookedItem,
  of: HooksOfRequest | undefined,
): Promise<readonly Violation[]> {
  try {
    if (of !== undefined) await of.hooks.validate?.(writeOf(of, item), text);
    return [];
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    if (error.violations.length > 0) return error.violations;
    return [{ in: "body", pointer: "#", code: "forbidden", detail: error.message }];
  }
}

function writeOf({ write }: HooksOfRequest, item: HookedItem): HookedWrite {
  return { ...write, ...item };
}

/** The text of a resource for its hooks. It has no id while the service has not chosen one. */
function hookedText(proposal: Proposal, { id }: HookedItem): string {
  if (id !== undefined) return textOf(proposal, id);
  const { id: _, ...others } = JSON.parse(textOf(proposal, "0")) as Record<string, unknown>;
  return JSON.stringify(others);
}
