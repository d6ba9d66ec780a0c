/** What the page shows instead of a part that failed. The rest of the page stays. */
import { Alert, Button } from "@mantine/core";
import { ProblemError } from "holdfast-client";
import { Component, type ReactNode, Suspense } from "react";
import { messageOf } from "../service/errors.ts";
import { failureTexts, texts } from "../texts.ts";

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
        <Button mt="sm" variant="default" onClick={onRetry} display="block">
          {texts.retry}
        </Button>
      )}
    </Alert>
  );
}

/** The errors of files that could not be loaded, for example because an update of the service has replaced them. */
const unloaded = new WeakSet<object>();

addEventListener("vite:preloadError", ({ payload }) => unloaded.add(payload));

/** Writes an error to the log of the browser, unless the browser has written it itself. */
export function logFailure(error: unknown): void {
  if (!isUnloaded(error)) console.error(error);
}

function isUnloaded(error: unknown): boolean {
  return typeof error === "object" && error !== null && unloaded.has(error);
}

interface FailuresState {
  /** What was thrown, in an array, because it can be `undefined`. */
  thrown?: readonly [unknown];
}

/** Shows a message, with a button that loads the page again, if its content throws. */
export class Failures extends Component<{ children: ReactNode }, FailuresState> {
  override state: FailuresState = {};

  static getDerivedStateFromError(error: unknown): FailuresState {
    return { thrown: [error] };
  }

  override render(): ReactNode {
    const { thrown } = this.state;
    return thrown === undefined ? this.props.children : <Failure error={thrown[0]} />;
  }
}

/** Content that is loaded when it is shown first. If it fails, the page around it keeps the unsaved changes. */
export function Loaded({ waiting, children }: { waiting?: ReactNode; children: ReactNode }) {
  return (
    <Failures>
      <Suspense fallback={waiting}>{children}</Suspense>
    </Failures>
  );
}

function Failure({ error }: { error: unknown }) {
  const isOld = isUnloaded(error);
  return (
    <Alert
      className="failure"
      color={isOld ? "holdfast" : "red"}
      variant="outline"
      role="alert"
      title={isOld ? failureTexts.updated : failureTexts.wrong}
    >
      <p>{isOld ? failureTexts.updatedHint : messageOf(error)}</p>
      <Button onClick={() => location.reload()}>{failureTexts.reload}</Button>
    </Alert>
  );
}

interface EmptyProps {
  title: string;
  hint?: string;
  /** What the user can do about it. */
  children?: ReactNode;
}

/** Says that there is nothing to show. */
export function Empty({ title, hint, children }: EmptyProps) {
  return (
    <div className="empty">
      <b>{title}</b>
      {hint !== undefined && <span>{hint}</span>}
      {children}
    </div>
  );
}
