/** The answers to what goes wrong, from the table of problems. */
import { STATUS_CODES } from "node:http";
import { type ProblemCode, problems } from "../../errors.ts";
import { type Part, ref } from "./described.ts";
import { type AnswerField, headersOf } from "./response-headers.ts";

/** Statuses that any request may meet, whatever it asks for. */
export const anywhere = [405, 408, 414, 417, 421, 431, 500, 503] as const;

/** The fields that a problem's answer has beside the usual, by status. */
const fields: Readonly<Record<number, { must?: AnswerField[]; may?: AnswerField[] }>> = {
  400: { may: ["Accept-Query"] },
  401: { must: ["WWW-Authenticate"] },
  403: { may: ["WWW-Authenticate"] },
  405: { must: ["Allow"] },
  409: { may: ["Retry-After", "Location"] },
  412: { may: ["ETag"] },
  415: { may: ["Accept", "Accept-Patch", "Accept-Query", "Accept-Encoding"] },
  429: { must: ["Retry-After"] },
};

/** What a reader would call a status, as the name of a component. */
export function responseName(status: number): string {
  return phraseOf(status).replaceAll(/[^A-Za-z]/g, "");
}

/** Node calls some by the names of older RFCs. */
const phrases: Readonly<Record<number, string>> = { 413: "Content Too Large", 422: "Unprocessable Content" };

function phraseOf(status: number): string {
  return phrases[status] ?? STATUS_CODES[status] ?? String(status);
}

/** The answers with a problem of these statuses, and the one for all that can happen anywhere, as components. */
export function problemParts(
  statuses: readonly number[],
  common: readonly AnswerField[],
): Record<string, Part> {
  const named = statuses.map((status) => [responseName(status), responseOf(status, common)] as const);
  return { ...Object.fromEntries(named), AnyProblem: anyProblem(common) };
}

function responseOf(status: number, common: readonly AnswerField[]): Part {
  const { must = [], may = [] } = fields[status] ?? {};
  const headers = headersOf([...common, ...must], may);
  if (status === 404)
    return { description: "There is no such resource. The answer has no content.", headers };
  const codes = codesOf([status]);
  return {
    description: `${phraseOf(status)}: ${codes.map((code) => `\`${code}\` (${problems[code].meaning})`).join(" ")}`,
    headers,
    content: contentOf({
      allOf: [
        ref("schemas", "Problem"),
        { type: "object", properties: { status: { const: status }, code: { enum: codes } } },
      ],
    }),
  };
}

function anyProblem(common: readonly AnswerField[]): Part {
  const codes = codesOf(anywhere);
  return {
    description: `What can happen to any request: ${codes.map((code) => `${problems[code].status} \`${code}\``).join(", ")}.`,
    headers: headersOf(common, ["Retry-After", "Allow", "Accept", "Accept-Encoding"]),
    content: contentOf(ref("schemas", "Problem")),
  };
}

function codesOf(statuses: readonly number[]): ProblemCode[] {
  return (Object.keys(problems) as ProblemCode[]).filter((code) => statuses.includes(problems[code].status));
}

/** Both media types carry the same object. */
function contentOf(schema: Part): Part {
  return { "application/json": { schema }, "application/problem+json": { schema } };
}
