/**
 * Deletes or changes the selected resources, after a dry run that shows what would happen. What is too much for one commit can be a
 * task.
 */
import { Button, Select, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { type BulkResult, ProblemError } from "holdfast-client";
import { useState } from "react";
import { Bad, Busy, Dialog } from "../parts/dialog.tsx";
import { offerRestore } from "../parts/undo.tsx";
import { messageOf } from "../service/errors.ts";
import { useAction } from "../service/queries.ts";
import { collectionClient } from "../service/session.ts";
import { useTitle } from "../service/titles.ts";
import { listTexts, texts } from "../texts.ts";
import { isTooLarge, useTask } from "./as-task.ts";
import { type Action, type BulkAction, idInPath, mostBulk, mostInTask, updateOf } from "./bulk.ts";
import type { Column } from "./columns.ts";
import type { Selection } from "./selections.ts";
import { ValueField } from "./value-field.tsx";

interface BulkDialogProps {
  kind: "delete" | "change";
  collection: string;
  columns: readonly Column[];
  /** The selected resources; `undefined` if everything that the filters match is selected. */
  ids: readonly string[] | undefined;
  /** What the filters match. */
  everything: Selection | undefined;
  /** How many are selected, as the list has counted them. */
  selected: number;
  onLeaveOut(id: string): void;
  onDone(): void;
  onClose(): void;
}

const firstShown = 8;

export function BulkDialog(props: BulkDialogProps) {
  const { kind, collection, columns, ids, everything, selected, onLeaveOut, onDone, onClose } = props;
  const [change, setChange] = useState<BulkAction | undefined>(
    kind === "delete" ? { delete: true } : undefined,
  );
  const which = ids === undefined ? everything : { filter: { id: { in: ids } } };
  const request = { ...which, max: mostBulk, ...change };
  const send = (dryRun: boolean, signal?: AbortSignal) => {
    const sent = collectionClient(collection).bulk({ ...request, dryRun } as never, signal && { signal });
    return sent as Promise<unknown> as Promise<BulkResult<object>>;
  };
  // Each change has its own dry run.
  const check = useQuery({
    queryKey: ["bulk", collection, which, change],
    enabled: change !== undefined,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => send(true, signal),
  });
  const save = useAction({
    mutationFn: () => send(false),
    onSuccess: async ({ changed, ids: done }) => {
      if (kind === "change") notifications.show({ message: listTexts.changed(changed), color: "holdfast" });
      else await offerRestore(collection, done.map(String));
      onDone();
      onClose();
    },
  });
  const begin = useTask(
    () => collectionClient(collection).bulkTask({ ...request, max: mostInTask } as never),
    () => {
      onDone();
      onClose();
    },
  );
  const result = check.data;
  const error = check.error ?? save.error;
  const canBeTask = isTooLarge(error);
  const matched = error instanceof ProblemError ? error.problem.matched : undefined;
  const isDelete = kind === "delete";
  const count = result?.changed ?? 0;
  return (
    <Dialog
      width={720}
      title={isDelete ? listTexts.deleteTitle(selected) : listTexts.changeTitle(selected)}
      about={listTexts.nothingYet}
      onClose={onClose}
      closing={texts.cancel}
      isApart
      actions={
        canBeTask ? (
          <Button
            size="sm"
            {...(isDelete && { color: "red" })}
            loading={begin.isPending}
            onClick={() => begin.mutate()}
          >
            {listTexts.asTask}
          </Button>
        ) : (
          (isDelete || result !== undefined) && (
            <Button
              size="sm"
              {...(isDelete && { color: "red" })}
              loading={save.isPending}
              disabled={count === 0 || error !== null}
              onClick={() => save.mutate()}
            >
              {isDelete ? listTexts.doDelete(count) : listTexts.doChange(count)}
            </Button>
          )
        )
      }
    >
      <div className="sheet">
        {!isDelete && (
          <ChangeForm
            {...{ collection, columns }}
            isChecked={result !== undefined}
            onChange={(next) => {
              save.reset();
              setChange(next);
            }}
          />
        )}
        {check.isFetching && <Busy>{listTexts.checking}</Busy>}
        {result !== undefined && (
          <>
            <span role="status">
              {count === 0
                ? listTexts.wouldNot
                : isDelete
                  ? listTexts.wouldDelete(count)
                  : listTexts.wouldChange(count, result.matched)}
            </span>
            {count > 0 && (
              <div className="rows">
                {result.ids.slice(0, firstShown).map((id) => (
                  <div key={id}>
                    <Named collection={collection} id={String(id)} />
                  </div>
                ))}
                {result.ids.length > firstShown && (
                  <div className="soft">{texts.andMore(result.ids.length - firstShown)}</div>
                )}
              </div>
            )}
          </>
        )}
        {canBeTask && (
          <span>
            {matched !== undefined && `${listTexts.matched(matched)} `}
            {listTexts.asTaskHint}
          </span>
        )}
        {begin.error !== null && <Bad text={messageOf(begin.error)} />}
        {error !== null && matched === undefined && (
          <Refused
            error={error}
            collection={collection}
            onLeaveOut={(id) => {
              save.reset();
              onLeaveOut(id);
            }}
            isOnly={ids === undefined || ids.length === 1}
          />
        )}
      </div>
    </Dialog>
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

interface RefusedProps {
  error: unknown;
  collection: string;
  /** Whether no resource is left without this one. */
  isOnly: boolean;
  onLeaveOut(id: string): void;
}

function Refused({ error, collection, isOnly, onLeaveOut }: RefusedProps) {
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
              {!isOnly && (
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

/** The attributes that the service keeps. */
const kept: ReadonlySet<string> = new Set(["id", "createdAt", "updatedAt"]);

interface ChangeFormProps {
  collection: string;
  columns: readonly Column[];
  /** Whether the change is the one that was checked last. */
  isChecked: boolean;
  /** `undefined` if the user edits the form after a check. */
  onChange(change: BulkAction | undefined): void;
}

/** Which attribute, and what to do with it. */
function ChangeForm({ collection, columns, isChecked, onChange }: ChangeFormProps) {
  const possible = columns.filter(({ name }) => !kept.has(name) && !name.includes("."));
  const [name, setName] = useState<string>();
  const [action, setAction] = useState<Action>("set");
  const [value, setValue] = useState("");
  const [wrong, setWrong] = useState<string>();
  const column: Column = possible.find((each) => each.name === name) ?? { name: name ?? "", kind: "any" };
  const isJson = column.kind === "list" || column.kind === "object" || column.kind === "any";
  const edit = (text: string) => {
    setValue(text);
    onChange(undefined);
  };
  const combobox = { size: "xs", allowDeselect: false } as const;
  return (
    <form
      className="filter-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (name === undefined) return;
        try {
          setWrong(undefined);
          onChange({ update: updateOf(name, action, value, column.kind) });
        } catch (error) {
          setWrong(messageOf(error));
        }
      }}
    >
      <Select
        {...combobox}
        w={160}
        searchable
        label={listTexts.attribute}
        data={possible.map((each) => each.name)}
        openOnFocus={false}
        placeholder={listTexts.chooseAttribute}
        value={name ?? null}
        onChange={(next) => {
          setName(next ?? undefined);
          edit("");
        }}
      />
      <Select
        {...combobox}
        w={170}
        label={listTexts.change}
        data={[
          { value: "set", label: listTexts.setTo },
          { value: "null", label: listTexts.setNull },
          { value: "unset", label: listTexts.unset },
        ]}
        value={action}
        onChange={(next) => {
          setAction(next as Action);
          onChange(undefined);
        }}
      />
      {name !== undefined &&
        action === "set" &&
        (isJson ? (
          <TextInput
            size="xs"
            w={220}
            label={listTexts.value}
            placeholder="JSON"
            error={wrong}
            value={value}
            onChange={(event) => edit(event.currentTarget.value)}
          />
        ) : (
          <ValueField
            key={name}
            collection={collection}
            column={column}
            operator="eq"
            isInDialog
            value={value}
            onChange={edit}
          />
        ))}
      <Button type="submit" variant={isChecked ? "default" : "filled"} disabled={name === undefined}>
        {listTexts.check}
      </Button>
      {wrong !== undefined && !isJson && <Bad text={wrong} />}
    </form>
  );
}
