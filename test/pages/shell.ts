/** The shell commands that a page tells its reader to type. */

/** One simple command: no pipe, no list, no substitution. */
export interface ShellCommand {
  page: string;
  /** The line that it is a part of. */
  line: string;
  words: string[];
}

/** The programs that make a line of an indented block a command; other indented blocks are code or grammar. */
const programs = /^(?:npx|npm|node|holdfast|git|curl|zcat|\.\/\S+|examples\/\S+) /;

/** The name of a command in a sentence, as in `holdfast check`. With arguments, it has the form that a user types. */
const isName = /^holdfast (?:[a-z]+|<command>)(?: (?:create|list|rotate|revoke))?(?: <[^>]+>)*(?: --help)?$/;

/** Every command of a Markdown page: in blocks, and in sentences. */
export function commandsOf(page: string, markdown: string): ShellCommand[] {
  const blocks = [...markdown.matchAll(/^ *```(\w+)[^\n]*\n(.*?)^ *```$/gms)];
  const prose = blocks.reduce((text, [block]) => text.replace(block, ""), markdown);
  const lines = [
    ...blocks.flatMap(([, language = "", text = ""]) => linesOf(language, text)),
    ...[...prose.matchAll(/^ {4}(\S.*)$/gm)]
      .map(([, line = ""]) => line)
      .filter((line) => programs.test(line)),
    ...[...prose.matchAll(/`([^`]+)`/g)]
      .map(([, code = ""]) => code.replaceAll("\n", " "))
      .map((code) => (isName.test(code) ? `npx ${code}` : code))
      .filter((code) => programs.test(code)),
  ];
  return lines.flatMap((line) => simpleCommands(line).map((words) => ({ page, line, words })));
}

/** The commands that a comment at the start of an example names after "Run:". */
export function headerOf(example: string): string[] {
  const [, line = ""] =
    /\bRun: (.+?)(?: \*\/| -->)?$/m.exec(example.split("\n").slice(0, 5).join("\n")) ?? [];
  return line === "" ? [] : line.split(", then ");
}

/** The simple commands of a line, each as its words; quoted text is one word without its quotes. */
export function simpleCommands(line: string): string[][] {
  const commands: string[][] = [[]];
  const tokens = line
    .replace(/\s#\s.*$/, "")
    .matchAll(/(?:[^\s'"|&;()$]|'[^']*'|"[^"]*"|\$(?!\())+|\$\(|[|&;()]+/g);
  for (const [token] of tokens)
    if (/^(?:\$\(|[|&;()]+)$/.test(token)) commands.push([]);
    else commands.at(-1)?.push(token.replaceAll(/['"]/g, ""));
  return commands.map(withoutAssignments).filter((words) => words.length > 0);
}

function withoutAssignments(words: string[]): string[] {
  const first = words.findIndex((word) => !/^\w+=/.test(word));
  return first === -1 ? [] : words.slice(first);
}

function linesOf(language: string, text: string): string[] {
  if (language === "sh") return text.split("\n").filter((line) => line.trim() !== "");
  if (language === "console")
    return text
      .split(/^\$ /m)
      .slice(1)
      .map((step) => step.split("\n")[0] ?? "");
  return [];
}
