/** What one kind of tasks does. The loop, the slices and the records of tasks know no kind. `task-kinds.ts` has the table of all. */
import { Problem } from "../../../errors.ts";
import type { Change } from "../../../store/port/commit.ts";
import type { Task, TaskItem } from "../../../tasks/task.ts";
import { createPauses } from "../../admission/turns.ts";
import type { HttpRequest } from "../../protocol/message.ts";
import { leastBytes } from "../bulk.ts";
import type { TaskWork } from "./task-work.ts";

/** One kind of tasks. */
export interface TaskKind {
  /** Adds to the plan. Absent if the plan is complete from the beginning. */
  plan?(work: TaskWork): Promise<Planned>;
  /** Decides about the first items of a part, until they have enough text for a slice. Each is decided as its own request would be. */
  decide(work: TaskWork, part: ItemsOfPart, request: HttpRequest): Promise<Decisions>;
  /** Whether only administrators begin it, so that its caller must still administer the service. @default false */
  readonly isForAdministrators?: true;
  /** Whether the texts are earlier ones (`JoinedCommit`). @default false */
  readonly revives?: true;
  /** Whether the store says everything that it refuses, which it does not if there are deletes. @default only the first refusal */
  readonly findsAll?: true;
  /** The codes of refusals that other changes of the task can mend, so that an item has another turn at the end. */
  readonly mendable: readonly string[];
  /** Whether other collections can mend a refusal too. @default only a collection that refers to itself */
  readonly isMendedByOthers?: true;
  /** Whether an item that the store has refused is decided again at once. @default it is not */
  isDecidedAgain?(work: TaskWork, collection: string, refusal: Problem): boolean;
}

/** A task after a step of its plan, and the other changes of the same commit. */
export interface Planned {
  task: Task;
  changes: readonly Change[];
}

/** Items of one collection, in their order in the plan. */
export interface ItemsOfPart {
  collection: string;
  items: readonly TaskItem[];
}

/** What becomes of one resource: a change, the reason why it is refused, or nothing if it stays the same. */
export type Decision = Change | Problem | undefined;

/** The decisions about the first of the items. */
export interface Decisions {
  decisions: readonly Decision[];
  at: number;
}

/** The most text of one slice, in characters. One resource can be longer. */
const maxSliceText = 262_144;

/**
 * What is found about the first items, until it has enough text for a slice. Several are found together, because each is a question
 * to the store. `find` also returns the length of the text that it has read.
 */
export async function untilLong<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Promise<readonly [Found, number]>,
): Promise<Found[]> {
  const all: Found[] = [];
  let length = 0;
  // The first groups are small, because each resource can be as long as many slices.
  for (let size = 1; all.length < items.length && length <= maxSliceText; size = Math.min(2 * size, 32)) {
    const found = await Promise.all(items.slice(all.length, all.length + size).map(find));
    for (const [each, own] of found) {
      all.push(each);
      length += own;
    }
  }
  return all;
}

/** Decides about the first items, one after the other. An error of the client is the decision about its item. */
export async function decideEach<Item>(
  items: readonly Item[],
  decide: (item: Item, index: number) => Promise<Decision>,
): Promise<Decision[]> {
  const decisions: Decision[] = [];
  const pause = createPauses();
  let length = 0;
  for (const [index, item] of items.entries()) {
    const decision = await decide(item, index).catch((error: unknown) => {
      if (error instanceof Problem && error.status < 500) return error;
      throw error;
    });
    decisions.push(decision);
    if (decision === undefined || decision instanceof Problem) continue;
    length += (decision.next?.length ?? 0) + (decision.replaced ?? 0);
    if (length > maxSliceText) break;
    await pause(leastBytes + (decision.next?.length ?? 0));
  }
  return decisions;
}

/** Why a resource stays as it is. */
export function changedMeanwhile(message: string): Problem {
  return new Problem("PRECONDITION_FAILED", message);
}
