/** What the service says about its health, read again and again while the page is open. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { authorization } from "../service/session.ts";
import { type Metrics, readMetrics, type Sample } from "./metrics-text.ts";

/** The time between two reads, in milliseconds. The sizes in the metrics are as old at most. */
export const everyMs = 5_000;
/** The samples that are kept: ten minutes. */
export const mostSamples = 120;

export type Readiness = "pass" | "warn" | "longLog" | "fail" | "unknown";

/** Whether the service is ready. */
export function useReadiness() {
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

interface Read {
  time: number;
  /** `null` if the service does not serve them. */
  metrics: Metrics | null;
}

/** The metrics; `null` if the service does not serve them. */
export function useSamples(): { samples: readonly Sample[]; isOff: boolean } {
  const { data } = useQuery<Read>({
    queryKey: ["health", "metrics"],
    refetchInterval: ({ state }) => (state.data?.metrics === null ? false : everyMs),
    gcTime: 0,
    queryFn: async ({ signal }): Promise<Read> => {
      const headers = authorization();
      const response = await fetch(new URL("metrics", document.baseURI), { headers, signal });
      if (response.status === 404) return { time: performance.now(), metrics: null };
      if (!response.ok) throw new Error(String(response.status));
      const metrics = readMetrics(await response.text());
      return { time: performance.now(), metrics };
    },
  });
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    if (data === undefined || data.metrics === null) return;
    const { time, metrics } = data;
    setSamples((before) =>
      before.at(-1)?.time === time ? before : [...before, { time, metrics }].slice(-mostSamples),
    );
  }, [data]);
  return { samples, isOff: data?.metrics === null };
}
