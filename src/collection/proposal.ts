/**
 * Proposals: every write first proposes the next state of a resource. Writes, tasks, imports, rewinds and sign-ups make their
 * proposals in different ways. Here all of them are checked, and become the text of the resource.
 */
import type { Violation } from "../errors.ts";
import type { Collection } from "./collection.ts";
import { type Attributes, pickMembers, resourceText } from "./resource.ts";
import { clientAttributes, timestampNames } from "./timestamps.ts";

/** The state that a write would give to a resource. */
export interface Proposal {
  readonly collection: Collection;
  /** Without the id and the timestamps. */
  readonly attributes: Attributes;
  /** The attributes of the state before. @default they do not count */
  readonly before?: (() => Attributes) | undefined;
  /** Makes the text of the resource, with its timestamps. */
  textWith(attributes: Attributes, id: string): string;
}

/** The proposal of a state whose text is known, such as an earlier one. */
export function proposeText(collection: Collection, text: string): Proposal {
  const resource = JSON.parse(text) as Record<string, unknown>;
  const attributes = clientAttributes(collection, resource);
  const times = collection.timestamps ? pickMembers(resource, isTimestamp) : {};
  return {
    collection,
    attributes,
    textWith: (all, id) =>
      all === attributes ? text : resourceText(collection.idKind, id, { ...all, ...times }),
  };
}

function isTimestamp(name: string): boolean {
  return (timestampNames as readonly string[]).includes(name);
}

/** What is wrong with a proposal. */
export function violationsOf({ collection, attributes, before }: Proposal): readonly Violation[] {
  return collection.validate(attributes, before);
}

/** The text of the resource with this id. Call it if nothing is wrong with the proposal. */
export function textOf(proposal: Proposal, id: string): string {
  return proposal.textWith(proposal.attributes, id);
}
