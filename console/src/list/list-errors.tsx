/** What is wrong with a list: at the filters that caused it, and the index that a slow list needs. */
import { Button } from "@mantine/core";
import { ProblemError } from "holdfast-client";
import { Copied } from "../parts/copied.tsx";
import { Problem } from "../parts/problem.tsx";
import { listTexts, texts } from "../texts.ts";
import type { ListQuery } from "./list-query.ts";
import { suggestedIndex } from "./suggested-index.ts";

/** What the service says is wrong, by the names of parameters. */
export function wrongParameters(error: unknown): Map<string, string> {
  const violations = error instanceof ProblemError ? (error.problem.violations ?? []) : [];
  return new Map(
    violations.flatMap(({ in: place, name, detail }) =>
      place === "query" && name !== undefined ? [[name, detail] as const] : [],
    ),
  );
}

export function ListError({ error, query, onRetry }: { error: unknown; query: ListQuery; onRetry(): void }) {
  if (!(error instanceof ProblemError) || error.code !== "QUERY_TOO_EXPENSIVE")
    return <Problem error={error} onRetry={onRetry} />;
  const detail = error.problem.detail ?? "";
  const index = suggestedIndex(detail, query);
  return (
    <div className="card slow" role="alert">
      <b>{listTexts.slow}</b>
      <span>{index === undefined ? detail : `${firstSentence(detail)} ${listTexts.addIndex}`}</span>
      {index !== undefined && <Copied text={index} />}
      <span>
        <Button size="xs" variant="default" onClick={onRetry}>
          {texts.retry}
        </Button>
      </span>
    </div>
  );
}

/** The first sentence says what is wrong. The advice after it is shown as text to copy. */
function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}
