/** The values of responses that no page can know. */

/** Ids, cursors, positions in the log, ids of events and groups of changes. */
const remembered =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=\b(?:cursor|since)=)[\w-]+|(?<=^id: )[\w-]+|(?<="id":")e[\w-]{22}(?=")|(?<="group":")[^"]+/;
/** The numbers of requests, and the seconds until a quota is full again. */
const fleeting = /(?<=urn:uuid:)[^"]+|(?<=;t=)\d+/;
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

/**
 * The values that a service makes, which no page can know. Where a page shows such a value, the real response has a value of the same kind. A
 * value that the page shows twice is the same in both places.
 */
export class Made {
  readonly #known = new Map<string, string>();
  readonly #pattern: RegExp;

  /** With `hasTimes`, the service makes the times too. */
  constructor(hasTimes: boolean) {
    const once = [fleeting, ...(hasTimes ? [times] : [])].map(({ source }) => source);
    this.#pattern = new RegExp(`(?<once>${once.join("|")})|${remembered.source}`, "gm");
  }

  /** The text with the real values that responses had. Other values stay, and must be in responses too. */
  inRequest(text: string): string {
    return text.replaceAll(this.#pattern, (shown) => this.#real(shown, shown));
  }

  /** The shown text with the real values. A new value is the one that stands in the same place of the real text. */
  inResponse(shown: string, real: string): string {
    const values = real.match(this.#pattern) ?? [];
    let n = 0;
    return shown.replaceAll(this.#pattern, (value, ...rest) => {
      const { once } = rest.at(-1) as { once?: string };
      const given = values[n++] ?? value;
      return once === undefined ? this.#real(value, given) : given;
    });
  }

  #real(shown: string, given: string): string {
    const known = this.#known.get(shown) ?? given;
    this.#known.set(shown, known);
    return known;
  }
}
