/** Writes values as TypeScript source, with comments. */

/** A member of an object, with the comments before it. */
export interface SourceMember {
  name: string;
  value: SourceValue;
  comments?: readonly string[];
}

/** An object with its members in order, or a value of JSON. */
export type SourceValue =
  | { members: readonly SourceMember[]; comments?: readonly string[] }
  | string
  | boolean
  | readonly string[];

/** The most characters of a line, as far as names and texts allow it. */
const maxLine = 100;

const plainName = /^[A-Za-z_$][\w$]*$/;

/** The source of a value. `indent`: the spaces before the line in which it starts. `before`: the characters before it in that line. */
export function sourceOf(value: SourceValue, indent = 0, before = indent): string {
  const inOneLine = inline(value);
  if (inOneLine !== undefined && before + inOneLine.length < maxLine) return inOneLine;
  const inner = " ".repeat(indent + 2);
  const end = `${" ".repeat(indent)}`;
  if (typeof value !== "object") return JSON.stringify(value);
  if (isList(value)) return `[\n${value.map((item) => `${inner}${JSON.stringify(item)},\n`).join("")}${end}]`;
  const lines = value.members.map(({ name, value: member, comments = [] }) => {
    const start = `${inner}${nameOf(name)}: `;
    return `${commentsOf(comments, indent + 2)}${start}${sourceOf(member, indent + 2, start.length)},\n`;
  });
  return `{\n${lines.join("")}${commentsOf(value.comments ?? [], indent + 2)}${end}}`;
}

/** Comments, each in as many lines as it needs. */
export function commentsOf(comments: readonly string[], indent = 0): string {
  const start = `${" ".repeat(indent)}// `;
  return comments
    .flatMap((comment) => wrap(comment, maxLine - start.length).map((line) => `${start}${line}\n`))
    .join("");
}

/** The value in one line; `undefined` if it has comments. */
function inline(value: SourceValue): string | undefined {
  if (typeof value !== "object") return JSON.stringify(value);
  if (isList(value)) return `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
  if ((value.comments ?? []).length > 0) return undefined;
  const texts: string[] = [];
  for (const { name, value: member, comments = [] } of value.members) {
    const text = comments.length > 0 ? undefined : inline(member);
    if (text === undefined) return undefined;
    texts.push(`${nameOf(name)}: ${text}`);
  }
  return texts.length === 0 ? "{}" : `{ ${texts.join(", ")} }`;
}

function isList(value: SourceValue): value is readonly string[] {
  return Array.isArray(value);
}

function nameOf(name: string): string {
  return plainName.test(name) ? name : JSON.stringify(name);
}

/** Divides a text at its spaces. A line break in it, also one of Unicode, would end the comment. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  const further = text.startsWith("- ") ? "  " : "";
  for (const word of text.replaceAll(/[\p{Zl}\p{Zp}\p{Cc}]+/gu, " ").split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : further + word);
  }
  return lines;
}
