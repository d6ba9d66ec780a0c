/** The versions of a resource, with what each changed, and a way back to each. */
import { Button, Loader, Tooltip } from "@mantine/core";
import { useIntersection } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { IconArrowBackUp, IconPencil, IconPlus, IconTrash } from "@tabler/icons-react";
import { queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type CollectionDetails, NotFoundError, type ResourceChange } from "holdfast-client";
import { useEffect, useRef, useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { Time } from "../parts/value.tsx";
import { messageOf } from "../service/errors.ts";
import { queries, type Rest, readNext, useAction } from "../service/queries.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { type AttributeDiff, type DiffLine, diffAttributes } from "./differences.ts";
import { type Attributes, tagOf, versionOf } from "./edit.ts";

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
  const { changes, hasNextPage, isPending, error, fetchNextPage } = useHistory(collection, id, latest);
  const restore = useAction({
    mutationFn: (version: number) => collectionClient(collection).restore((current ?? id) as string, version),
    onSuccess: (restored, version) => {
      onRestored(restored as Resource);
      const now = versionOf(tagOf(restored));
      notifications.show({ message: texts.resource.restored(version, now), autoClose: 4_000 });
    },
    onError: (failure) =>
      notifications.show({
        color: "red",
        title: texts.resource.notRestoredTitle,
        message: messageOf(failure),
      }),
  });
  if (error instanceof NotFoundError && changes.length === 0)
    return <div className="empty">{texts.resource.noHistory}</div>;
  if (error !== null) return <Problem error={error} />;
  if (isPending) return <Loader size="sm" />;
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
            onRestore={() => restore.mutate(change.version)}
          />
        ))}
      </ol>
      {hasNextPage ? (
        <Button variant="default" onClick={() => void fetchNextPage()}>
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
            <Time text={at} />
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

/** The changes, newest first. Another `latest` reads them again. */
function useHistory(collection: string, id: string, latest: string) {
  const { refetch, ...history } = useInfiniteQuery({
    queryKey: ["history", collection, id, "pages"],
    initialPageParam: undefined as Rest<ResourceChange> | undefined,
    queryFn: ({ pageParam, signal }) =>
      readNext(pageParam ?? collectionClient(collection).history(id, { signal }).pages()),
    getNextPageParam: ({ items, limit = 0, rest }) => (items.length < limit ? undefined : rest),
    structuralSharing: false,
    gcTime: 0,
  });
  const read = useRef(latest);
  useEffect(() => {
    if (read.current !== latest) void refetch();
    read.current = latest;
  }, [latest, refetch]);
  return { ...history, changes: history.data?.pages.flatMap(({ items }) => items) ?? [] };
}

/** The attributes of a version, which never change. */
function useVersion(collection: string, id: string, version: number, isNeeded: boolean) {
  return useQuery({ ...versionQuery(collection, id, version), enabled: isNeeded && version > 0 });
}

function versionQuery(collection: string, id: string, version: number) {
  return queryOptions({
    queryKey: ["version", collection, id, version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<Attributes> =>
      (await collectionClient(collection).get(id, { version, signal })) as Resource,
  });
}

/** A version that brought a deleted resource back, and the versions before the delete, newest first. */
export interface Restore {
  version: number;
  earlier: readonly number[];
}

/** How many earlier versions are compared with a restored one. */
const mostCompared = 10;

/** The restored version: the newest one with the same attributes. `undefined` until it is found, and if none of the newest has them. */
function useRestoredFrom(
  collection: string,
  id: string,
  restore: Restore | undefined,
  hidden: readonly string[],
): number | undefined {
  const { data } = useQuery({
    queryKey: ["restored from", collection, id, restore?.version],
    enabled: restore !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async (): Promise<number | null> => {
      const read = (version: number) => queries.fetchQuery(versionQuery(collection, id, version));
      const { version, earlier } = restore as Restore;
      const own = await read(version);
      for (const each of earlier.slice(0, mostCompared)) {
        const differences = diffAttributes(await read(each), own);
        if (differences.every(({ name }) => hidden.includes(name))) return each;
      }
      return null;
    },
  });
  return data ?? undefined;
}

/** How many attributes are shown. */
const maxAttributes = 100;

const marks = { add: "+", remove: "−", same: "", gap: "" };
const classes = { add: "a", remove: "r", same: "", gap: "c" };

function Differences({ all }: { all: readonly AttributeDiff[] }) {
  const rest = all.length - maxAttributes;
  return (
    <div className="diff">
      {all.slice(0, maxAttributes).map((each) => (
        <Attribute key={each.name} diff={each} />
      ))}
      {rest > 0 && <div className="c">{texts.resource.moreAttributes(rest)}</div>}
    </div>
  );
}

function Attribute({ diff: { name, isBlock, lines, cut } }: { diff: AttributeDiff }) {
  return (
    <>
      {isBlock && (
        <div className="c">
          <span className="mark" />
          <span>{name}</span>
        </div>
      )}
      {lines.map((line, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity
        <Line key={n} line={line} name={isBlock ? undefined : name} />
      ))}
      {cut > 0 && (
        <div className="c">
          <span className="mark" />
          <span>{texts.resource.moreLines(cut)}</span>
        </div>
      )}
    </>
  );
}

function Line({ line: { kind, pieces }, name }: { line: DiffLine; name: string | undefined }) {
  const label =
    kind === "add" ? texts.resource.added : kind === "remove" ? texts.resource.removed : undefined;
  return (
    <div className={classes[kind]}>
      <span className="mark" aria-hidden="true">
        {marks[kind]}
      </span>
      <span>
        {label !== undefined && <span className="sr-only">{label} </span>}
        {name === undefined ? "  " : `${name}: `}
        {pieces.map(({ text, isMarked }, n) =>
          isMarked ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity
            <mark key={n}>{text}</mark>
          ) : (
            text
          ),
        )}
      </span>
    </div>
  );
}
