/** The schema of a task. */
import { maxRefusals, taskKinds, taskStates } from "../../tasks/task.ts";
import { closedObject, count, listOf, type Part, ref, text, truth } from "./described.ts";

const time: Part = { ...text, format: "date-time" };

/** A task, as responses have it. */
export const taskSchema = closedObject(
  {
    id: text,
    kind: { enum: taskKinds },
    state: { enum: taskStates },
    collection: { ...text, description: "Left out if the task changes several collections." },
    by: { type: ["string", "null"], description: "The subject of the caller who began it." },
    dryRun: truth,
    total: {
      ...count,
      description: "The resources that it is about. The number grows while the task selects them.",
    },
    checked: { ...count, description: "The resources that it has checked, before it changes anything." },
    done: { ...count, description: "The resources that had their turn." },
    changed: {
      ...count,
      description: "The resources that have changed. In a dry run, those that would change.",
    },
    created: { ...count, description: "How many of these are new." },
    refused: { ...count, description: "The resources that could not be changed." },
    firstRefused: listOf(
      closedObject(
        {
          resource: { ...text, description: "The path of the resource." },
          line: { ...count, description: "The line in the body of an import." },
          element: { ...count, description: "The number of the element in the array of an import." },
          code: text,
          detail: text,
        },
        { optional: ["resource", "line", "element"] },
      ),
      `The first ${maxRefusals} of them.`,
    ),
    reason: { ...text, description: "Why it ended, if not all was done." },
    undoes: { ...text, description: "The id of the task that it undoes." },
    undoneBy: { ...text, description: "The id of the task that undoes it." },
    createdAt: time,
    endedAt: time,
    report: ref("schemas", "ImportReport"),
  },
  {
    optional: ["collection", "reason", "undoes", "undoneBy", "endedAt", "report"],
    description: "A change of many resources that does not fit one commit.",
  },
);
