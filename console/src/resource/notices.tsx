/** What the panel says above the form: errors, changes by others, a delete by others. */
import { Alert, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { CollectionDetails } from "holdfast-client";
import { Dialog } from "../parts/dialog.tsx";
import { formatInstant, formatTime } from "../parts/formats.ts";
import { formatRoute, setGuard } from "../route.ts";
import { messageOf, otherProblems, type Place, type Refusal } from "../service/errors.ts";
import { useAction } from "../service/queries.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { useTitle } from "../service/titles.ts";
import { texts } from "../texts.ts";
import { copyOf, openNew } from "./drafts.ts";
import { differencesOf, type Edit, resetValue, tagOf, versionOf } from "./edit.ts";
import { expiryOf } from "./fields.ts";

/** The errors that no field shows. */
export function RefusedNotice({ refusal, names }: { refusal: Refusal; names: ReadonlySet<string> }) {
  const problems = otherProblems(refusal, names);
  const count = [...refusal.byName.values()].reduce((sum, all) => sum + all.length, 0);
  if (problems.length === 0 && count === 0) return null;
  return (
    <Alert color="red" className="notice" role="alert" title={texts.resource.notSaved}>
      {problems.length === 0
        ? texts.resource.seeFields(count)
        : problems.map((each) => <div key={each}>{each}</div>)}
      {refusal.holder !== undefined && <Holder {...refusal.holder} />}
    </Alert>
  );
}

/** Leads to the resource that has the unique values already. */
export function Holder({ collection, id, onOpen }: Place & { onOpen?: () => void }) {
  const title = useTitle(collection, id);
  return (
    <div>
      {texts.resource.holder}{" "}
      <a
        className="ref"
        href={formatRoute({ kind: "resource", collection, query: "", id, tab: "fields" })}
        onClick={onOpen}
      >
        {title ?? id}
      </a>
    </div>
  );
}

interface LockedChangesProps {
  names: readonly string[];
  isNew?: boolean;
  onEdit(change: (edit: Edit) => Edit): void;
}

/** Changes of attributes that the caller cannot set, and a button that takes them back. */
export function LockedChanges({ names, isNew = false, onEdit }: LockedChangesProps) {
  return (
    <Alert color="yellow" className="notice" role="alert">
      <p>{texts.resource.lockedChanges(names, isNew)}</p>
      <Button variant="default" onClick={() => onEdit((edit) => names.reduce(resetValue, edit))}>
        {isNew ? texts.resource.removeLocked(names.length) : texts.resource.putBack(names.length)}
      </Button>
    </Alert>
  );
}

interface TheirsProps {
  edit: Edit;
  theirs: Resource;
  readOnly: readonly string[];
  onCompare(): void;
}

/** A newer version by another caller, while the user edits. */
export function Theirs({ edit, theirs, readOnly, onCompare }: TheirsProps) {
  const names = differencesOf(edit.base, edit.mine, theirs)
    .filter(({ by, name }) => by !== "me" && !readOnly.includes(name))
    .map(({ name }) => name);
  return (
    <div className="notice quiet" role="status">
      <span>{texts.resource.newer(versionOf(tagOf(theirs)), names)}</span>
      <Button size="compact-xs" variant="default" onClick={onCompare}>
        {texts.resource.compare}
      </Button>
    </div>
  );
}

/** Says when the resource expires. */
export function Expiry({ info, resource }: { info: CollectionDetails | undefined; resource: Resource }) {
  const at = expiryOf(info, resource);
  if (at === undefined) return null;
  return (
    <div className="notice quiet" role="note">
      <span title={formatInstant(at)}>{texts.resource.expires(formatTime(at))}</span>
    </div>
  );
}

interface DeletedProps {
  collection: string;
  id: string;
  /** Whether the versions are below. */
  isInHistory: boolean;
  hasChanges: boolean;
  onCreate(): void;
  onHistory(): void;
}

/** Says that the resource does not exist, or when it was deleted, if its history shows this. */
export function Deleted({ collection, id, isInHistory, hasChanges, onCreate, onHistory }: DeletedProps) {
  const { data } = useQuery({
    queryKey: ["history", collection, id, "deleted"],
    queryFn: async ({ signal }) => {
      for await (const latest of collectionClient(collection).history(id, { limit: 1, signal }))
        return latest.kind === "deleted" ? latest : null;
      return null;
    },
  });
  const last = data ?? undefined;
  const title =
    last === undefined
      ? texts.resource.doesNotExist
      : texts.resource.wasDeleted(formatTime(last.at), last.principal);
  if (isInHistory)
    return last === undefined ? null : (
      <Alert color="gray" className="notice" title={title}>
        {texts.resource.restoreBelow}
      </Alert>
    );
  const hint = last === undefined ? texts.resource.historyHint : texts.resource.restoreInHistory;
  return (
    <Alert color="gray" className="notice" title={title}>
      <p>{hasChanges ? texts.resource.changesKept : hint}</p>
      {hasChanges && (
        <Button onClick={onCreate} mr={8}>
          {texts.resource.createAgain}
        </Button>
      )}
      <Button variant="default" onClick={onHistory}>
        {texts.tabs.history}
      </Button>
    </Alert>
  );
}

interface DeletedDialogProps {
  collection: string;
  id: string;
  query: string;
  edit: Edit;
  onRestored(resource: Resource): void;
  onClose(): void;
}

/** Offers to create a deleted resource again, with the user's changes. */
export function DeletedDialog({ collection, id, query, edit, onRestored, onClose }: DeletedDialogProps) {
  const { mutate, isPending, error } = useAction({
    mutationFn: () => collectionClient(collection).restore(id, versionOf(edit.etag) ?? 0),
    onSuccess: (restored) => onRestored(restored as Resource),
  });
  const createNew = () => {
    setGuard(undefined);
    openNew(collection, query, copyOf(edit.mine, []));
  };
  return (
    <Dialog
      title={texts.resource.deletedTitle}
      about={texts.resource.deletedAbout}
      width={600}
      onClose={onClose}
      closing={texts.resource.keepEditing}
      isApart
      actions={
        <>
          <Button size="sm" loading={isPending} onClick={() => mutate()}>
            {texts.resource.restoreWithChanges}
          </Button>
          <Button size="sm" variant="default" onClick={createNew}>
            {texts.resource.createNew}
          </Button>
        </>
      }
    >
      {error !== null && (
        <Alert color="red" className="notice" role="alert">
          {texts.resource.notRestored(messageOf(error))}
        </Alert>
      )}
    </Dialog>
  );
}
