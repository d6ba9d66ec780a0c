/** The panel of a new resource. */
import type { CollectionDetails } from "holdfast-client";
import { useCallback, useEffect, useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { go, type Route, setGuard, type Tab } from "../route.ts";
import { useAction } from "../service/queries.ts";
import type { Kind } from "../service/schema.ts";
import { texts } from "../texts.ts";
import { findDraft, forgetDraft, forgetHanded, startOfNew, useKeptDraft } from "./drafts.ts";
import { isBroken, isChanged } from "./edit.ts";
import { lockedChanges } from "./fields.ts";
import { Draft, useRefusal } from "./fields-tab.tsx";
import { LeaveGuard, PanelButtons, PanelFrame } from "./panel-frame.tsx";
import { useRights } from "./use-resource.ts";
import { createResource } from "./use-save.ts";

interface NewPanelProps {
  collection: string;
  info: CollectionDetails | undefined;
  /** The kinds of the attributes that other resources have. */
  known: ReadonlyMap<string, Kind>;
  query: string;
  onClose(): void;
}

export function NewPanel({ collection, info, known, query, onClose }: NewPanelProps) {
  const [tab, setTab] = useState<Tab>("fields");
  const [edit, setEdit] = useState(() => findDraft(collection, undefined) ?? startOfNew(collection));
  useKeptDraft(collection, undefined, edit);
  useEffect(() => {
    forgetHanded();
    forgetDraft(collection, undefined);
  }, [collection]);
  const rights = useRights(collection, "create");
  const { mutate: run, isPending: isBusy } = useAction({ mutationFn: (task: () => Promise<void>) => task() });
  useFirstFocus(info !== undefined && rights !== undefined);
  const { refusal, refuse } = useRefusal(edit);
  const staysOn = useCallback(
    (next: Route) => next.kind === "new" && next.collection === collection,
    [collection],
  );
  const locked = lockedChanges(edit, info, rights?.attributes).filter((name) => name !== "id");
  const canSave = !isBroken(edit) && rights?.allowed !== false && locked.length === 0;
  const isOpen = info?.id === "uuid"; // in other collections, the service counts
  const id = isOpen && typeof edit.mine.id === "string" ? edit.mine.id : undefined;
  const save = () => {
    if (!canSave) return;
    run(async () => {
      const outcome = await createResource(collection, edit.mine, id);
      refuse(outcome.kind === "refused" ? { refusal: outcome.refusal, mine: edit.mine } : undefined);
      if (outcome.kind !== "saved") return;
      setGuard(undefined);
      go(
        { kind: "resource", collection, query, id: String(outcome.resource.id), tab: "fields" },
        { replace: true },
      );
    });
  };
  return (
    <>
      <PanelFrame
        title={texts.resource.newIn(collection)}
        tabs={["fields", "json"]}
        tab={tab}
        onTab={setTab}
        onSave={save}
        onClose={onClose}
        footer={
          <PanelButtons
            save={{ label: texts.create, isDisabled: !canSave, isBusy, onPress: save }}
            giveUp={{ label: texts.cancel, onPress: onClose }}
            state={
              id !== undefined
                ? texts.resource.idIsChosen(id)
                : isOpen
                  ? texts.resource.idIsOpen
                  : texts.resource.idIsMade
            }
          />
        }
      >
        {rights?.allowed === false && <Problem error={new Error(rights.reason)} />}
        <Draft
          {...{ tab, info, known, edit, locked, refusal }}
          rights={rights?.attributes}
          isReadOnly={false}
          isNew
          onEdit={setEdit}
        />
      </PanelFrame>
      <LeaveGuard hasChanges={isChanged(edit)} staysOn={staysOn} />
    </>
  );
}

/** Moves the focus from the panel to its first field, once it is known which fields the caller can set. */
function useFirstFocus(isKnown: boolean): void {
  useEffect(() => {
    const panel = document.querySelector(".panel");
    if (!isKnown || document.activeElement !== panel) return;
    panel?.querySelector<HTMLElement>(".field :is(input, textarea, .cm-content)")?.focus();
  }, [isKnown]);
}
