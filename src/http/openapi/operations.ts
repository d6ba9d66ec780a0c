/** What operations have in common: who can call, which errors they have, and the headers of every response. */
import type { methodsOf } from "../route.ts";
import { type Described, type Part, ref } from "./described.ts";
import { responseName } from "./problem-responses.ts";
import { type AnswerField, commonFields, headersOf } from "./response-headers.ts";

type Split<Text extends string> = Text extends `${infer First}, ${infer Rest}` ? First | Split<Rest> : Text;

/** The methods of a kind of route that a document has: HEAD and OPTIONS go without saying. */
export type MethodsOf<Kind extends keyof typeof methodsOf> = Exclude<
  Split<(typeof methodsOf)[Kind]>,
  "HEAD" | "OPTIONS"
>;

/** An operation, before it is part of a document. */
export interface OperationPlan {
  id: string;
  tag: string;
  summary: string;
  description: string;
  /** Who can call: anyone, anyone with more for callers with a credential, or callers with a credential only. */
  callers: "anybody" | "anybody too" | "known";
  parameters?: readonly Part[];
  requestBody?: Part;
  /** Whether requests are not counted against the caller's quota. */
  isFree?: boolean;
  /** Whether every valid credential is enough. */
  isNeverForbidden?: boolean;
  /** The responses on success. */
  answers: Readonly<Record<number, Part>>;
  /** The statuses of errors, besides those that any request can have. */
  problems: readonly number[];
}

/** An operation as a document has it. */
export function operationPart(plan: OperationPlan, described: Described): Part {
  const { id, tag, summary, description, parameters = [], requestBody, answers } = plan;
  const problems = problemsOf(plan, described).map((status) => [
    status,
    ref("responses", responseName(status)),
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: described.access === undefined ? description : `${description}\n\n${needs[plan.callers]}`,
    ...securityOf(plan, described),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: { ...answers, ...Object.fromEntries(problems), default: ref("responses", "AnyProblem") },
  };
}

/** What an operation says of credentials, if the service has `auth`. */
const needs: Readonly<Record<OperationPlan["callers"], string>> = {
  anybody: "It needs no credential.",
  "anybody too": "It is public. With a credential, the response can include more.",
  known: "It needs a credential.",
};

/** Adds the errors of access rules, encryption and the rate limit to those of the operation. */
function problemsOf(plan: OperationPlan, { access, settings }: Described): number[] {
  const { callers, isFree, isNeverForbidden, problems } = plan;
  const all = new Set(problems);
  if (callers !== "anybody") {
    if (access !== undefined) all.add(401);
    if ((access !== undefined && isNeverForbidden !== true) || settings.requireTls) all.add(403);
  }
  if (settings.rate !== undefined && isFree !== true) all.add(429);
  return [...all].sort((a, b) => a - b);
}

function securityOf({ callers }: OperationPlan, { access }: Described): Part {
  if (access === undefined || callers === "known") return {};
  return { security: callers === "anybody" ? [] : [{}, { bearer: [] }] };
}

/** An answer that is no problem. */
export function answer(
  { settings }: Described,
  description: string,
  {
    must = [],
    may = [],
    content,
  }: { must?: readonly AnswerField[]; may?: readonly AnswerField[]; content?: Part } = {},
): Part {
  const headers = headersOf([...commonFields(settings.rate !== undefined), ...must], may);
  return { description, headers, ...(content === undefined ? {} : { content }) };
}
