/** What operations have in common: who may call, what can go wrong, and the fields of every answer. */
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
  /** Who may call: whoever likes, also whoever likes, or whoever has shown a credential. */
  callers: "anybody" | "anybody too" | "known";
  parameters?: readonly Part[];
  requestBody?: Part;
  /** Whether requests take nothing from the quota of whoever calls. */
  isFree?: boolean;
  /** Whether every valid credential is enough. */
  isNeverForbidden?: boolean;
  /** The answers when all goes well. */
  answers: Readonly<Record<number, Part>>;
  /** The statuses of what can go wrong, beside what can go wrong anywhere. */
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
    description,
    ...securityOf(plan, described),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: { ...answers, ...Object.fromEntries(problems), default: ref("responses", "AnyProblem") },
  };
}

/** Every operation that has a guard can find that it is not for the caller, and most that it is not now. */
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

/** Content that is JSON. */
export function json(schema: Part): Part {
  return { "application/json": { schema } };
}
