/** An error, as the service says it. */
import { Alert, Button } from "@mantine/core";
import { HoldfastError, ProblemError } from "holdfast-client";
import { texts } from "../texts.ts";

/** The sentence of an error. */
export function messageOf(error: unknown): string {
  if (error instanceof ProblemError) return error.problem.detail ?? error.message;
  if (error instanceof HoldfastError || error instanceof Error) return error.message;
  return String(error);
}

/** Shows an error where its content would be. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  return (
    <Alert
      color="red"
      m="lg"
      role="alert"
      title={error instanceof ProblemError ? error.problem.title : undefined}
    >
      {messageOf(error)}
      {onRetry !== undefined && (
        <Button mt="sm" size="xs" variant="default" onClick={onRetry} display="block">
          {texts.retry}
        </Button>
      )}
    </Alert>
  );
}
