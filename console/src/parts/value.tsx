/** A value in a cell of a table. */
import { go } from "../route.ts";
import type { Kind } from "../service/schema.ts";
import { useTitle } from "../service/titles.ts";
import { texts } from "../texts.ts";
import { formatTime } from "./time.ts";

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
  if (kind === "time")
    return (
      <time dateTime={String(value)} title={String(value)}>
        {formatTime(String(value))}
      </time>
    );
  if (kind === "choice")
    return <span className={`tag tone${toneOf(String(value), choices)}`}>{shorten(String(value))}</span>;
  return <>{shorten(String(value))}</>;
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

/** The ids of resources that are made one after the other begin alike, so the end is shown too. */
export function shortId(id: string): string {
  return id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id;
}
