/** The versions of a resource, with what each changed, and a way back to each. */
import { Button, Loader, Tooltip } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconArrowBackUp, IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { NotFoundError, type ResourceChange } from "holdfast-client";
import { useState } from "react";
import { messageOf, Problem } from "../parts/problem.tsx";
import { formatTime } from "../parts/time.ts";
import type { CollectionDetails } from "../service/collections.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { diffAttributes } from "./differences.ts";
import { tagOf, versionOf } from "./tags.ts";
import { type Restore, useHistory, useRestoredFrom, useVersion } from "./use-history.ts";
import { useBusy } from "./use-save.ts";
import { Differences } from "./value-diff.tsx";

interface HistoryTabProps {
  collection: string;
  id: string;
  info: CollectionDetails | undefined;
  /** `undefined` if the resource is deleted. */
  current: Resource | undefined;
  /** Whether unsaved changes forbid a restore. */
  isLocked: boolean;
  onRestored(resource: Resource): void;
}

export function HistoryTab({ collection, id, info, current, isLocked, onRestored }: HistoryTabProps) {
  const latest = current === undefined ? "" : tagOf(current);
  const { changes, hasMore, isLoading, error, loadMore } = useHistory(collection, id, latest);
  const { run } = useBusy();
  const restore = (version: number) =>
    run(async () => {
      try {
        const restored = (await collectionClient(collection).restore(
          (current ?? id) as string,
          version,
        )) as Resource;
        onRestored(restored);
        const now = versionOf(tagOf(restored));
        notifications.show({ message: texts.resource.restored(version, now), autoClose: 4_000 });
      } catch (failure) {
        notifications.show({
          color: "red",
          title: texts.resource.notRestoredTitle,
          message: messageOf(failure),
        });
      }
    });
  if (error instanceof NotFoundError && changes.length === 0)
    return <div className="empty">{texts.resource.noHistory}</div>;
  if (error !== undefined) return <Problem error={error} />;
  if (isLoading) return <Loader size="sm" />;
  return (
    <>
      <ol className="history">
        {changes.map((change, n) => (
          <Entry
            key={change.version}
            collection={collection}
            id={id}
            change={change}
            restore={restoreOf(changes, n)}
            hidden={info?.timestamps === false ? undefined : "updatedAt"}
            isCurrent={current !== undefined && versionOf(latest) === change.version}
            isLocked={isLocked}
            onRestore={() => void restore(change.version)}
          />
        ))}
      </ol>
      {hasMore ? (
        <Button variant="default" size="xs" onClick={loadMore}>
          {texts.resource.earlier}
        </Button>
      ) : (
        // The first version of an imported resource can have any number.
        (changes.at(-1)?.kind ?? "created") !== "created" && (
          <p className="soft">{texts.resource.historyEnds}</p>
        )
      )}
    </>
  );
}

/** What a change restored; `undefined` if it did not bring a deleted resource back. */
function restoreOf(changes: readonly ResourceChange[], n: number): Restore | undefined {
  const [change, before, ...others] = changes.slice(n);
  if (change?.kind !== "created" || before?.kind !== "deleted") return undefined;
  const earlier = others.filter(({ kind }) => kind !== "deleted").map(({ version }) => version);
  return { version: change.version, earlier };
}

const icons = { created: IconPlus, updated: IconPencil, deleted: IconTrash };

interface EntryProps {
  collection: string;
  id: string;
  change: ResourceChange;
  restore: Restore | undefined;
  /** An attribute that every change changes. */
  hidden: string | undefined;
  isCurrent: boolean;
  isLocked: boolean;
  onRestore(): void;
}

function Entry({ collection, id, change, restore, hidden, isCurrent, isLocked, onRestore }: EntryProps) {
  const { version, kind, at, principal } = change;
  const { ref, entry } = useIntersection({ rootMargin: "200px" });
  const isSeen = entry?.isIntersecting === true;
  const times = hidden === undefined ? [] : ["createdAt", hidden];
  const restored = useRestoredFrom(collection, id, isSeen ? restore : undefined, times);
  const Icon = restore !== undefined ? IconArrowBackUp : icons[kind];
  return (
    <li className="line" ref={ref}>
      <span className="dot">
        <Icon size={14} aria-hidden="true" />
      </span>
      <div className="entry">
        <div className="entry-head">
          <b>{texts.version(String(version))}</b>
          <span className="soft">
            {texts.resource.did(restore !== undefined ? "restored" : kind, principal, restored)}{" "}
            <time dateTime={at} title={at}>
              {formatTime(at)}
            </time>
          </span>
          <span className="grow" />
          {isCurrent && <span className="tag">{texts.resource.current}</span>}
          {!isCurrent && kind !== "deleted" && (
            <Tooltip label={texts.resource.saveFirst} disabled={!isLocked}>
              <Button
                size="compact-xs"
                variant="default"
                className="restore"
                disabled={isLocked}
                leftSection={<IconArrowBackUp size={13} />}
                onClick={onRestore}
              >
                {texts.restoreVersion}
              </Button>
            </Tooltip>
          )}
        </div>
        {kind === "updated" && (
          <Changed collection={collection} id={id} version={version} hidden={hidden} isNeeded={isSeen} />
        )}
        {kind === "created" && <Created collection={collection} id={id} version={version} />}
      </div>
    </li>
  );
}

interface VersionProps {
  collection: string;
  id: string;
  version: number;
}

/** What a version changed. */
function Changed({
  collection,
  id,
  version,
  hidden,
  isNeeded,
}: VersionProps & Pick<EntryProps, "hidden"> & { isNeeded: boolean }) {
  const [wasNeeded, setNeeded] = useState(false);
  if (isNeeded && !wasNeeded) setNeeded(true);
  const after = useVersion(collection, id, version, isNeeded || wasNeeded);
  const before = useVersion(collection, id, version - 1, isNeeded || wasNeeded);
  const error = after.error ?? before.error;
  if (error instanceof NotFoundError) return <p className="soft">{texts.resource.notKept}</p>;
  if (error !== null) return <p className="wrong">{messageOf(error)}</p>;
  if (after.data === undefined || before.data === undefined) return <div className="diff waiting" />;
  const all = diffAttributes(before.data, after.data).filter(({ name }) => name !== hidden);
  return all.length === 0 ? <p className="soft">{texts.resource.noDifference}</p> : <Differences all={all} />;
}

/** The attributes of a version that was created, when the user wants them. */
function Created({ collection, id, version }: VersionProps) {
  const [isOpen, setOpen] = useState(false);
  const { data, error } = useVersion(collection, id, version, isOpen);
  if (!isOpen)
    return (
      <button type="button" className="link" onClick={() => setOpen(true)}>
        {texts.resource.showAttributes}
      </button>
    );
  if (error !== null) return <p className="soft">{texts.resource.notKept}</p>;
  if (data === undefined) return <div className="diff waiting" />;
  return <Differences all={diffAttributes({}, data)} />;
}
