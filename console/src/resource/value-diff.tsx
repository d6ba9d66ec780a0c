/** Shows differences: removed lines, added lines, and the words that differ in them. */
import { texts } from "../texts.ts";
import type { AttributeDiff, DiffLine } from "./differences.ts";

/** How many attributes are shown. */
const maxAttributes = 100;

const marks = { add: "+", remove: "−", same: "", gap: "" };
const classes = { add: "a", remove: "r", same: "", gap: "c" };

export function Differences({ all }: { all: readonly AttributeDiff[] }) {
  const rest = all.length - maxAttributes;
  return (
    <div className="diff">
      {all.slice(0, maxAttributes).map((each) => (
        <Attribute key={each.name} diff={each} />
      ))}
      {rest > 0 && <div className="c">{texts.resource.moreAttributes(rest)}</div>}
    </div>
  );
}

function Attribute({ diff: { name, isBlock, lines, cut } }: { diff: AttributeDiff }) {
  return (
    <>
      {isBlock && (
        <div className="c">
          <span className="mark" />
          <span>{name}</span>
        </div>
      )}
      {lines.map((line, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity
        <Line key={n} line={line} name={isBlock ? undefined : name} />
      ))}
      {cut > 0 && (
        <div className="c">
          <span className="mark" />
          <span>{texts.resource.moreLines(cut)}</span>
        </div>
      )}
    </>
  );
}

function Line({ line: { kind, pieces }, name }: { line: DiffLine; name: string | undefined }) {
  const label =
    kind === "add" ? texts.resource.added : kind === "remove" ? texts.resource.removed : undefined;
  return (
    <div className={classes[kind]}>
      <span className="mark" aria-hidden="true">
        {marks[kind]}
      </span>
      <span>
        {label !== undefined && <span className="sr-only">{label} </span>}
        {name === undefined ? "  " : `${name}: `}
        {pieces.map(({ text, isMarked }, n) =>
          isMarked ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity
            <mark key={n}>{text}</mark>
          ) : (
            text
          ),
        )}
      </span>
    </div>
  );
}
