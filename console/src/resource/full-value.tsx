/** A value, as far as it can be shown in full. */
import { texts } from "../texts.ts";

interface FullValueProps {
  value: unknown;
  /** The most characters that are shown. */
  most?: number;
  /** Whether a text has quotes, because other words are beside it. */
  isQuoted?: boolean;
}

/** Shows a value. */
export function FullValue({ value, most = 1_500, isQuoted = false }: FullValueProps) {
  if (value === undefined) return <span className="none">{texts.absent}</span>;
  if (value === null) return <span className="none">null</span>;
  if (value === "") return <span className="none">{texts.resource.emptyText}</span>;
  if (Array.isArray(value) && isShort(value))
    return value.map((each, n) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: elements have no identity
      <span className="tag" key={n}>
        {each}
      </span>
    ));
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  const isCut = text.length > most;
  const quote = isQuoted && typeof value === "string" ? '"' : "";
  return (
    <span className={typeof value === "object" ? "mono-value" : "text-value"}>
      {isCut ? `${quote}${text.slice(0, most)}… ` : `${quote}${text}${quote}`}
      {isCut && <span className="none">{texts.resource.moreCharacters(text.length - most)}</span>}
    </span>
  );
}

function isShort(value: readonly unknown[]): value is string[] {
  return (
    value.length > 0 &&
    value.length <= 30 &&
    value.every((each) => typeof each === "string" && each.length <= 60)
  );
}
