/** References that lead nowhere, as an import finds them at its end. */

/** A reference that leads nowhere. */
export interface Lost {
  from: string;
  id: string;
  attribute: string;
  to: string;
}

/** So many are told of at most. */
export const shownLost = 10;

/** Says what is not there. */
export function describeLost(lost: readonly Lost[]): string {
  const shown = lost.slice(0, shownLost);
  const places = shown.map(({ from, id, attribute, to }) => `${from}/${id} (${attribute}: ${to})`).join(", ");
  return `Some references lead to resources that do not exist: ${places}${lost.length < shownLost ? "" : ", …"}.`;
}
