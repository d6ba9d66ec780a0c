/** A value in a cell of a table, and as far as it can be shown in full. */
import { go } from "../route.ts";
import type { Kind } from "../service/schema.ts";
import { useTitle } from "../service/titles.ts";
import { texts } from "../texts.ts";
import { formatTime, shortId } from "./formats.ts";

/** The most characters of a text in a cell. */
const maxText = 200;
/** The most elements of a list in a cell. */
const maxElements = 3;

interface ValueProps {
  value: unknown;
  kind: Kind;
  /** The collection that the value refers to. */
  target?: string | undefined;
  /** The values of an enumeration. Each has its own colour. */
  choices?: readonly string[] | undefined;
}

/** Shows a value in one line. */
export function Value({ value, kind, target, choices }: ValueProps) {
  if (value === undefined) return <span className="none">{texts.absent}</span>;
  if (value === null) return <span className="none">null</span>;
  if (kind === "id") return <span className="id">{shortId(String(value))}</span>;
  if (target !== undefined && (typeof value === "string" || typeof value === "number"))
    return <Reference collection={target} id={String(value)} />;
  if (typeof value === "boolean") return <span className={value ? "tag green" : "tag"}>{String(value)}</span>;
  if (typeof value === "number") return <>{formatNumber(value)}</>;
  if (Array.isArray(value)) return <Elements values={value} target={target} />;
  if (typeof value === "object") return <span className="id">{outline(value)}</span>;
  if (kind === "time") return <Time text={String(value)} />;
  if (kind === "choice")
    return <span className={`tag tone${toneOf(String(value), choices)}`}>{shorten(String(value))}</span>;
  return <>{shorten(String(value))}</>;
}

/** A time, as people read it. */
export function Time({ text }: { text: string }) {
  return (
    <time dateTime={text} title={text}>
      {formatTime(text)}
    </time>
  );
}

function Reference({ collection, id }: { collection: string; id: string }) {
  const title = useTitle(collection, id);
  return (
    <a
      className="ref"
      title={`${collection}/${id}`}
      href={`#/${encodeURIComponent(collection)}/${encodeURIComponent(id)}`}
      onClick={(event) => {
        event.preventDefault();
        event.stopPropagation();
        go({ kind: "resource", collection, query: "", id, tab: "fields" });
      }}
    >
      {title === undefined ? <span className="id">{shortId(id)}</span> : shorten(title)}
    </a>
  );
}

function Elements({ values, target }: { values: readonly unknown[]; target: string | undefined }) {
  if (values.length === 0) return <span className="none">[ ]</span>;
  const rest = values.length - maxElements;
  return (
    <>
      {values.slice(0, maxElements).map((each, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: elements have no identity
        <span className="tag" key={n}>
          {target !== undefined && (typeof each === "string" || typeof each === "number") ? (
            <Reference collection={target} id={String(each)} />
          ) : (
            shorten(typeof each === "object" && each !== null ? outline(each) : String(each), 40)
          )}
        </span>
      ))}
      {rest > 0 && <span className="tag">+{rest}</span>}
    </>
  );
}

/** The beginning of an object as JSON. A large one costs no more than a small one. */
function outline(value: object): string {
  const isArray = Array.isArray(value);
  const parts: string[] = [];
  let isCut = false;
  for (const name in value) {
    isCut = parts.length === 4;
    if (isCut) break;
    const each: unknown = (value as Record<string, unknown>)[name];
    const text =
      typeof each === "object" && each !== null
        ? Array.isArray(each)
          ? "[…]"
          : "{…}"
        : JSON.stringify(typeof each === "string" ? shorten(each, 40) : each);
    parts.push(isArray ? text : `${JSON.stringify(shorten(name, 40))}:${text}`);
  }
  const inner = `${parts.join(",")}${isCut ? ",…" : ""}`;
  return isArray ? `[${inner}]` : `{${inner}}`;
}

/** All digits of a number, in groups of three if it is an integer. */
function formatNumber(value: number): string {
  return Number.isSafeInteger(value) ? value.toLocaleString("en") : String(value);
}

/** The colour of a choice: by its place among the choices, or by its text. */
function toneOf(text: string, choices: readonly string[] = []): number {
  const place = choices.indexOf(text);
  if (place !== -1) return place % 5;
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 997;
  return sum % 5;
}

function shorten(text: string, most = maxText): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

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
