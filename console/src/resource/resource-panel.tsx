/** The panel of one resource. */
import { Alert } from "@mantine/core";
import type { CollectionDetails } from "holdfast-client";
import { useCallback, useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { type Route, type Tab, tabs } from "../route.ts";
import { useAction } from "../service/queries.ts";
import { titleOf } from "../service/schema.ts";
import type { Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { AccessTab } from "./access-tab.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import {
  type Attributes,
  changesOf,
  isBroken,
  isChanged,
  merge,
  rebase,
  startEdit,
  tagOf,
  versionOf,
} from "./edit.ts";
import { lockedChanges } from "./fields.ts";
import { Draft, useRefusal } from "./fields-tab.tsx";
import { HistoryTab } from "./history-tab.tsx";
import { Deleted, DeletedDialog, Expiry, Theirs } from "./notices.tsx";
import { LeaveGuard, PanelButtons, PanelFrame } from "./panel-frame.tsx";
import { PanelMenu } from "./panel-menu.tsx";
import { RelatedTab } from "./related-tab.tsx";
import { useResource, useRights } from "./use-resource.ts";
import { type Outcome, saveChanges } from "./use-save.ts";

interface PanelProps {
  collection: string;
  info: CollectionDetails | undefined;
  id: string;
  /** The query string of the list behind the panel. */
  query: string;
  tab: Tab;
  onTab(tab: Tab): void;
  onClose(): void;
}

export function ResourcePanel({ collection, info, id, query, tab, onTab, onClose }: PanelProps) {
  const state = useResource(collection, id);
  const { edit, current, isDeleted, setEdit } = state;
  const rights = useRights(collection, "update", id);
  const { mutate: run, isPending: isBusy } = useAction({ mutationFn: (task: () => Promise<void>) => task() });
  const { refusal, refuse } = useRefusal(edit);
  const [conflict, setConflict] = useState<Resource>();
  const [isGone, setGone] = useState(false);
  const [savedTag, setSavedTag] = useState<string>();
  const hasChanges = edit !== undefined && isChanged(edit);
  const isReadOnly = rights?.allowed === false || isDeleted;
  const locked = edit === undefined ? [] : lockedChanges(edit, info, rights?.attributes);
  const canSave = edit !== undefined && hasChanges && !isBroken(edit) && !isReadOnly && locked.length === 0;
  const staysOn = useCallback(
    (next: Route) => next.kind === "resource" && next.collection === collection && next.id === id,
    [collection, id],
  );

  const finish = (outcome: Outcome, mine: Attributes) => {
    refuse(outcome.kind === "refused" ? { refusal: outcome.refusal, mine } : undefined);
    setConflict(outcome.kind === "conflict" ? outcome.theirs : undefined);
    setGone(outcome.kind === "deleted");
    if (outcome.kind === "refused") onTab(tab === "json" ? "json" : "fields");
    if (outcome.kind !== "saved") return;
    state.accept(outcome.resource);
    setSavedTag(tagOf(outcome.resource));
  };
  const save = () => {
    if (edit === undefined || !canSave) return;
    run(async () => finish(await saveChanges(collection, id, edit), edit.mine));
  };
  const saveOn = (theirs: Resource, merged: Attributes) => {
    const based = rebase(theirs, tagOf(theirs), merged);
    run(async () => {
      if (changesOf(based).length === 0) state.accept(theirs);
      const outcome = changesOf(based).length === 0 ? undefined : await saveChanges(collection, id, based);
      if (outcome?.kind === "refused") setEdit(based); // the choices stay
      if (outcome === undefined) setConflict(undefined);
      else finish(outcome, merged);
    });
  };
  const discard = () => {
    refuse(undefined);
    setConflict(undefined);
    const latest = conflict ?? current;
    if (latest !== undefined) setEdit(startEdit(latest, tagOf(latest)));
  };

  const stateOf = () => {
    if (edit === undefined) return "";
    if (rights?.allowed === false) return texts.resource.readOnly;
    const version = versionOf(edit.etag);
    return !hasChanges && savedTag === edit.etag
      ? texts.resource.saved(version)
      : texts.version(String(version ?? "?"));
  };
  const theirs = hasChanges && current !== undefined && tagOf(current) !== edit.etag ? current : undefined;
  const existing = isDeleted ? undefined : current;
  const isForm = tab === "fields" || tab === "json";
  return (
    <>
      <PanelFrame
        title={titleOf(edit?.mine ?? current) ?? id}
        tabs={tabs}
        tab={tab}
        onTab={onTab}
        onSave={save}
        onClose={onClose}
        actions={<PanelMenu {...{ collection, id, query }} current={existing} onDeleted={onClose} />}
        footer={
          isForm && edit !== undefined && !isDeleted ? (
            <PanelButtons
              save={{ label: texts.save, isDisabled: !canSave, isBusy, onPress: save }}
              giveUp={{ label: texts.discard, isDisabled: !hasChanges, onPress: discard }}
              state={stateOf()}
              hasKey={!isReadOnly}
            />
          ) : undefined
        }
      >
        {isDeleted && (isForm || tab === "history") && (
          <Deleted
            {...{ collection, id }}
            isInHistory={tab === "history"}
            hasChanges={hasChanges}
            onCreate={() => setGone(true)}
            onHistory={() => onTab("history")}
          />
        )}
        {!isDeleted && state.error !== null && <Problem error={state.error} onRetry={state.reload} />}
        {isForm && existing !== undefined && <Expiry info={info} resource={existing} />}
        {isForm && theirs !== undefined && edit !== undefined && (
          <Theirs
            edit={edit}
            theirs={theirs}
            readOnly={rights?.attributes.readOnly ?? []}
            onCompare={() => setConflict(theirs)}
          />
        )}
        {isForm && rights?.allowed === false && !isDeleted && (
          <Alert color="gray" className="notice">
            {rights.reason}{" "}
            <button type="button" className="link" onClick={() => onTab("access")}>
              {texts.resource.seeRule}
            </button>
          </Alert>
        )}
        {isForm && edit !== undefined && (
          <Draft
            {...{ tab, info, edit, refusal }}
            locked={isReadOnly ? [] : locked}
            rights={rights?.attributes}
            isReadOnly={isReadOnly && !hasChanges}
            onEdit={state.onEdit}
          />
        )}
        {tab === "history" && (
          <HistoryTab
            {...{ collection, id, info }}
            current={existing}
            isLocked={hasChanges}
            onRestored={state.accept}
          />
        )}
        {tab === "related" && current !== undefined && <RelatedTab info={info} current={current} />}
        {tab === "access" && <AccessTab collection={collection} id={id} info={info} />}
      </PanelFrame>
      <LeaveGuard hasChanges={hasChanges} staysOn={staysOn} />
      {conflict !== undefined && edit !== undefined && (
        <ConflictDialog
          key={tagOf(conflict)}
          {...{ collection, id, edit, isBusy }}
          theirs={conflict}
          readOnly={rights?.attributes.readOnly ?? []}
          onSave={(merged) => saveOn(conflict, merged)}
          onDiscard={discard}
          onClose={() => setConflict(undefined)}
        />
      )}
      {isGone && edit !== undefined && (
        <DeletedDialog
          {...{ collection, id, query, edit }}
          onRestored={(restored) => {
            setGone(false);
            saveOn(restored, merge(edit.mine, restored, new Set(changesOf(edit))));
          }}
          onClose={() => setGone(false)}
        />
      )}
    </>
  );
}
