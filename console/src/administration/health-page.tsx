/** Whether the service works, and its figures. */
import { useQuery } from "@tanstack/react-query";
import { bytesText } from "../parts/formats.ts";
import { Head } from "../parts/head.tsx";
import { useConfiguration } from "../service/administrator.ts";
import { useCollections } from "../service/collections.ts";
import { useIsLive } from "../service/live.ts";
import { queries } from "../service/queries.ts";
import { authorization } from "../service/session.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { TurnOn, Waiting } from "./frame.tsx";
import { type Figures, figuresOf, readMetrics, type Sample, sparkPath } from "./metrics-text.ts";

const own = administrationTexts.health;
const tones = { pass: "green", warn: "amber", longLog: "amber", fail: "red", unknown: "red" };

export function HealthPage() {
  const { samples, isOff } = useSamples();
  return (
    <>
      <Head title={listTexts.pageNames.health} />
      <div className="health">
        <Ready samples={samples} />
        {isOff && <MetricsOff />}
        {!isOff && samples.length === 0 && <Waiting />}
        {samples.length > 0 && <AllFigures samples={samples} />}
        <Collections />
      </div>
    </>
  );
}

function Ready({ samples }: { samples: readonly Sample[] }) {
  const { data } = useReadiness();
  const isLive = useIsLive();
  if (data === undefined) return <Waiting />;
  const info = samples.at(-1)?.metrics.get("holdfast_build_info")?.[0]?.labels;
  const store = own.stores[info?.store as keyof typeof own.stores] ?? info?.store;
  return (
    <section className="card ready" aria-live="polite">
      <span className={`tag ${tones[data.status]}`}>{own.ready[data.status]}</span>
      <span>{own.readyHint[data.status]}</span>
      {data.isRelaxed && <span className="wrong">{own.relaxed}</span>}
      <span className="grow" />
      {info !== undefined && <span className="soft">{own.version(info.version ?? "", store ?? "")}</span>}
      <span className={isLive ? "live" : "live off"}>
        <i />
        {own.live}
      </span>
    </section>
  );
}

function MetricsOff() {
  const { data } = useConfiguration();
  const place = data?.options.find(({ name }) => name === "metrics")?.value ?? null;
  return (
    <TurnOn
      title={own.noMetrics}
      hint={place === null ? "" : own.elsewhere(placeText(place))}
      text={'metrics: "administrators"'}
    />
  );
}

function placeText(place: unknown): string {
  return typeof place === "number" ? `http://127.0.0.1:${place}/metrics` : `http://${String(place)}/metrics`;
}

const rate = (value: number) => value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
const whole = (value: number) => value.toLocaleString("en", { maximumFractionDigits: 0 });
const milliseconds = (value: number) =>
  `${value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 })} ms`;

function AllFigures({ samples }: { samples: readonly Sample[] }) {
  const all = samples.map((sample, n) => figuresOf(sample, samples[n - 1]));
  const now = all.at(-1) as Figures;
  const of = (name: keyof Figures) => all.map((each) => each[name]);
  const { lag = 0, retrying = 0, dead = 0 } = now;
  return (
    <>
      <h2 className="health-title">
        {own.figures} <span className="soft">{samples.length < 2 ? own.gathering : own.since}</span>
      </h2>
      <div className="figures-grid">
        <Figure label={own.requests} unit={own.requestsUnit} values={of("requests")} format={rate} />
        <Figure label={own.slow} values={of("slow")} format={milliseconds} />
        <Figure label={own.refused} unit={own.requestsUnit} values={of("refused")} format={rate} />
        <Figure
          label={own.errors}
          unit={own.errorsUnit}
          values={of("errors")}
          format={rate}
          isBad={(now.errors ?? 0) > 0}
        />
        <Figure label={own.running} values={of("running")} format={whole} />
        <Figure
          label={own.streams}
          values={of("streams")}
          format={whole}
          hint={lag >= 1 ? own.lag(lag) : own.upToDate}
        />
        <Figure
          label={own.webhooks}
          values={of("waiting")}
          format={whole}
          hint={own.webhooksOf(retrying, dead)}
          isBad={dead > 0}
        />
        <Figure label={own.size} values={of("size")} format={bytesText} />
        <Figure label={own.log} values={of("log")} format={bytesText} />
        <Figure label={own.memory} values={of("memory")} format={bytesText} />
        <Figure label={own.loop} values={of("loop")} format={milliseconds} />
      </div>
    </>
  );
}

function Collections() {
  const { data = [] } = useCollections({ everyMs });
  if (data.length === 0) return null;
  const most = Math.max(...data.map(({ count = 0 }) => count), 1);
  const sorted = data.toSorted((a, b) => (b.count ?? -1) - (a.count ?? -1));
  return (
    <>
      <h2 className="health-title">{own.collections}</h2>
      <ul className="card sizes">
        {sorted.map(({ name, count, bytes }) => (
          <li key={name}>
            <span className="size-name" title={name}>
              {name}
            </span>
            <span className="size-bar" aria-hidden="true">
              {count !== undefined && count > 0 && <i style={{ width: `${(count / most) * 100}%` }} />}
            </span>
            <span className="size-count">
              {count === undefined ? (
                <span className="soft">{own.uncounted}</span>
              ) : (
                count.toLocaleString("en")
              )}
            </span>
            <span className="size-bytes soft" title={own.aboutHint}>
              {bytes !== undefined && own.about(bytesText(bytes))}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

interface FigureProps {
  label: string;
  unit?: string;
  hint?: string;
  values: readonly (number | undefined)[];
  format(value: number): string;
  isBad?: boolean;
}

const size = { width: 180, height: 32 };

function Figure({ label, unit, hint, values, format, isBad = false }: FigureProps) {
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

/** The time between two reads, in milliseconds. The sizes in the metrics are as old at most. */
export const everyMs = 5_000;
/** The samples that are kept: ten minutes. */
const mostSamples = 120;

type Readiness = "pass" | "warn" | "longLog" | "fail" | "unknown";

/** Whether the service is ready. */
function useReadiness() {
  return useQuery({
    queryKey: ["health", "ready"],
    refetchInterval: everyMs,
    queryFn: async ({ signal }): Promise<{ status: Readiness; isRelaxed: boolean }> => {
      try {
        const response = await fetch(new URL("readyz", document.baseURI), { signal });
        const { status, durability, log } = await response.json();
        const isKnown = status === "pass" || status === "warn" || status === "fail";
        const shown = status === "warn" && log === "long" ? "longLog" : status;
        return { status: isKnown ? shown : "unknown", isRelaxed: durability === "relaxed" };
      } catch (error) {
        if (signal.aborted) throw error;
        return { status: "unknown", isRelaxed: false };
      }
    },
  });
}

interface Samples {
  samples: readonly Sample[];
  /** Whether the service does not serve metrics. */
  isOff: boolean;
}

const metricsKey = ["health", "metrics"];

/** The metrics since the page was opened. */
function useSamples(): Samples {
  const { data } = useQuery<Samples>({
    queryKey: metricsKey,
    refetchInterval: ({ state }) => (state.data?.isOff === true ? false : everyMs),
    gcTime: 0,
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const samples = queries.getQueryData<Samples>(metricsKey)?.samples ?? [];
      const headers = authorization();
      const response = await fetch(new URL("metrics", document.baseURI), { headers, signal });
      if (response.status === 404) return { samples, isOff: true };
      if (!response.ok) throw new Error(String(response.status));
      const now = { metrics: readMetrics(await response.text()), time: performance.now() };
      return { samples: [...samples, now].slice(-mostSamples), isOff: false };
    },
  });
  return data ?? { samples: [], isOff: false };
}
