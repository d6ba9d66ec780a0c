/** One figure: its latest value, and a small line of the values before. */
import { sparkPath } from "./metrics-text.ts";
import { mostSamples } from "./use-health.ts";

interface FigureProps {
  label: string;
  unit?: string;
  hint?: string;
  values: readonly (number | undefined)[];
  format(value: number): string;
  isBad?: boolean;
}

const size = { width: 180, height: 32 };

export function Figure({ label, unit, hint, values, format, isBad = false }: FigureProps) {
  const now = values.at(-1);
  // The service does not have this figure, for example the log of SQLite on PostgreSQL.
  if (
    values.length > 1 &&
    values.every((each) => each === undefined) &&
    hint === undefined &&
    unit === undefined
  )
    return null;
  return (
    <div className={isBad ? "card figure bad" : "card figure"}>
      <span className="soft">{label}</span>
      <span className="figure-value">
        <b>{now === undefined ? "—" : format(now)}</b>
        {unit !== undefined && <span className="soft">{unit}</span>}
      </span>
      <svg viewBox={`0 0 ${size.width} ${size.height}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={sparkPath(values, { ...size, most: Math.min(mostSamples, Math.max(24, values.length)) })} />
      </svg>
      <span className="soft hint">{hint}</span>
    </div>
  );
}
