/** What the panel says above the form: errors, changes by others, a delete by others. */
import { Alert, Button } from "@mantine/core";
import { useState } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { messageOf } from "../parts/problem.tsx";
import { setGuard } from "../route.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { differencesOf } from "./draft.ts";
import { type Edit, resetValue } from "./edit.ts";
import { copyOf, openNew } from "./new-resource.ts";
import { tagOf, versionOf } from "./tags.ts";
import { useBusy } from "./use-save.ts";
import { otherProblems, type Refusal } from "./violations.ts";

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
    </Alert>
  );
}

/** Changes of attributes that the caller cannot set, and a button that takes them back. */
export function LockedChanges({
  names,
  isNew = false,
  onEdit,
}: {
  names: readonly string[];
  isNew?: boolean;
  onEdit(change: (edit: Edit) => Edit): void;
}) {
  return (
    <Alert color="yellow" className="notice" role="alert">
      <p>{texts.resource.lockedChanges(names, isNew)}</p>
      <Button size="xs" variant="default" onClick={() => onEdit((edit) => names.reduce(resetValue, edit))}>
        {isNew ? texts.resource.removeLocked(names.length) : texts.resource.putBack(names.length)}
      </Button>
    </Alert>
  );
}

/** A newer version by another caller, while the user edits. */
export function Theirs({
  edit,
  theirs,
  readOnly,
  onCompare,
}: {
  edit: Edit;
  theirs: Resource;
  readOnly: readonly string[];
  onCompare(): void;
}) {
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

/** Says that the resource does not exist. */
export function Deleted({
  hasChanges,
  onCreate,
  onHistory,
}: {
  hasChanges: boolean;
  onCreate(): void;
  onHistory(): void;
}) {
  return (
    <Alert color="gray" className="notice" title={texts.resource.doesNotExist}>
      <p>{hasChanges ? texts.resource.changesKept : texts.resource.historyHint}</p>
      {hasChanges && (
        <Button size="xs" onClick={onCreate} mr={8}>
          {texts.resource.createAgain}
        </Button>
      )}
      <Button size="xs" variant="default" onClick={onHistory}>
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
  const { isBusy, run } = useBusy();
  const [problem, setProblem] = useState<string>();
  const version = versionOf(edit.etag);
  const restore = () =>
    run(async () => {
      try {
        onRestored((await collectionClient(collection).restore(id, version ?? 0)) as Resource);
      } catch (error) {
        setProblem(messageOf(error));
      }
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
      footer={
        <>
          <Button size="sm" loading={isBusy} onClick={() => void restore()}>
            {texts.resource.restoreWithChanges}
          </Button>
          <Button size="sm" variant="default" onClick={createNew}>
            {texts.resource.createNew}
          </Button>
          <span className="grow" />
          <Button size="sm" variant="subtle" color="gray" onClick={onClose}>
            {texts.resource.keepEditing}
          </Button>
        </>
      }
    >
      {problem !== undefined && (
        <Alert color="red" className="notice" role="alert">
          {texts.resource.notRestored(problem)}
        </Alert>
      )}
    </Dialog>
  );
}
