/** Deletes or changes the selected resources, after a dry run that shows what would happen. */
import { Button, Loader } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { type BulkResult, ProblemError } from "holdfast-client";
import { useEffect, useRef, useState } from "react";
import { Dialog, DialogButtons } from "../parts/dialog.tsx";
import { messageOf } from "../parts/problem.tsx";
import { collectionClient } from "../service/session.ts";
import { useTitle } from "../service/titles.ts";
import { listTexts } from "../texts.ts";
import { type BulkAction, idInPath, mostBulk } from "./bulk.ts";
import { ChangeForm } from "./change-form.tsx";
import type { Column } from "./columns.ts";
import { offerRestore } from "./restore-all.ts";

interface BulkDialogProps {
  kind: "delete" | "change";
  collection: string;
  columns: readonly Column[];
  ids: readonly string[];
  onLeaveOut(id: string): void;
  onDone(): void;
  onClose(): void;
}

type Result = BulkResult<object>;

const firstShown = 8;

export function BulkDialog({ kind, collection, columns, ids, onLeaveOut, onDone, onClose }: BulkDialogProps) {
  const [change, setChange] = useState<BulkAction | undefined>(
    kind === "delete" ? { delete: true } : undefined,
  );
  const [result, setResult] = useState<Result>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const stop = useRef<AbortController>(undefined);
  const send = (dryRun: boolean, signal?: AbortSignal) => {
    const request = { filter: { id: { in: ids } }, max: mostBulk, dryRun, ...change };
    return collectionClient(collection).bulk(
      request as never,
      signal && { signal },
    ) as unknown as Promise<Result>;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change has its own dry run
  useEffect(() => {
    stop.current?.abort();
    setResult(undefined);
    setError(undefined);
    if (change === undefined) return;
    const controller = new AbortController();
    stop.current = controller;
    send(true, controller.signal).then(setResult, (reason: unknown) => {
      if (!controller.signal.aborted) setError(reason);
    });
    return () => controller.abort();
  }, [change, ids]);
  const carryOut = async () => {
    setBusy(true);
    try {
      const { changed, ids: done } = await send(false);
      if (kind === "change") notifications.show({ message: listTexts.changed(changed), color: "holdfast" });
      else await offerRestore(collection, done.map(String));
      onDone();
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  };
  const isDelete = kind === "delete";
  const count = result?.changed ?? 0;
  return (
    <Dialog
      width={720}
      title={isDelete ? listTexts.deleteTitle(ids.length) : listTexts.changeTitle(ids.length)}
      about={listTexts.nothingYet}
      onClose={onClose}
      footer={
        <DialogButtons closing={listTexts.cancel} isApart onClose={onClose}>
          {(isDelete || result !== undefined) && (
            <Button
              size="sm"
              {...(isDelete && { color: "red" })}
              loading={isBusy}
              disabled={count === 0 || error !== undefined}
              onClick={() => void carryOut()}
            >
              {isDelete ? listTexts.doDelete(count) : listTexts.doChange(count)}
            </Button>
          )}
        </DialogButtons>
      }
    >
      <div className="sheet">
        {!isDelete && (
          <ChangeForm {...{ collection, columns }} isChecked={result !== undefined} onChange={setChange} />
        )}
        {change !== undefined && result === undefined && error === undefined && (
          <span className="figures" role="status">
            <Loader size="xs" /> {listTexts.checking}
          </span>
        )}
        {result !== undefined && (
          <>
            <span role="status">
              {count === 0
                ? listTexts.wouldNot
                : isDelete
                  ? listTexts.wouldDelete(count)
                  : listTexts.wouldChange(count, result.matched)}
            </span>
            {count > 0 && <First collection={collection} ids={result.ids.map(String)} />}
          </>
        )}
        {error !== undefined && (
          <Refused
            error={error}
            collection={collection}
            onLeaveOut={ids.length > 1 ? onLeaveOut : undefined}
          />
        )}
      </div>
    </Dialog>
  );
}

function First({ collection, ids }: { collection: string; ids: readonly string[] }) {
  return (
    <div className="rows">
      {ids.slice(0, firstShown).map((id) => (
        <div key={id}>
          <Named collection={collection} id={id} />
        </div>
      ))}
      {ids.length > firstShown && <div className="soft">{listTexts.andMore(ids.length - firstShown)}</div>}
    </div>
  );
}

function Named({ collection, id }: { collection: string; id: string }) {
  const title = useTitle(collection, id);
  return (
    <>
      <span className="what">{title ?? id}</span>
      <span className="grow" />
      {title !== undefined && <span className="id">{id}</span>}
    </>
  );
}

function Refused({
  error,
  collection,
  onLeaveOut,
}: {
  error: unknown;
  collection: string;
  onLeaveOut: ((id: string) => void) | undefined;
}) {
  const id = error instanceof ProblemError ? idInPath(error.problem.resource) : undefined;
  return (
    <div role="alert" className="sheet" style={{ padding: 0 }}>
      <span className="figures">
        <span className="bad">{id === undefined ? messageOf(error) : reasonOf(error)}</span>
      </span>
      {id !== undefined && (
        <>
          <span>{listTexts.refusedAll}</span>
          <div className="rows">
            <div>
              <Named collection={collection} id={id} />
              {onLeaveOut !== undefined && (
                <Button size="compact-xs" variant="default" onClick={() => onLeaveOut(id)}>
                  {listTexts.leaveOut}
                </Button>
              )}
            </div>
          </div>
        </>
      )}
    </div>
  );
}

/** The sentence of an error without the path of the resource, which is shown beside it. */
function reasonOf(error: unknown): string {
  return messageOf(error).replace(/^Nothing changed, because \S+ was refused: /, "");
}
