/** Keeps the cells of a CSV table from being formulas in a spreadsheet. */

/**
 * The start of a cell that a spreadsheet runs as a formula, even in quotes. Any client that can write can put it there. An
 * apostrophe before it makes the cell text (https://owasp.org/www-community/attacks/CSV_Injection). A text that has
 * apostrophes before such a character gets one more, so that `withoutGuard` always finds the original.
 */
const formula = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** The text of a cell, with an apostrophe if it would be a formula. */
export function withGuard(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** The original text of a cell, without the apostrophe that keeps it from being a formula. */
export function withoutGuard(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}
