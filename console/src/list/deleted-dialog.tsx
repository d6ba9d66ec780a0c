/** The deleted resources of a collection, with ways to bring back one of them, or all that match a filter. */
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconArrowBackUp } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type BulkResult, type CollectionDetails, NotFoundError } from "holdfast-client";
import { useState } from "react";
import { Bad, Busy, Dialog } from "../parts/dialog.tsx";
import { Time } from "../parts/value.tsx";
import { Holder } from "../resource/notices.tsx";
import { formatRoute } from "../route.ts";
import { knownCollection } from "../service/collections.ts";
import { holderOf, messageOf, wrongParameters } from "../service/errors.ts";
import { type Rest, readNext, useAction } from "../service/queries.ts";
import { titleOf } from "../service/schema.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";
import { isTooLarge, useTask } from "./as-task.ts";
import { mostBulk, mostInTask } from "./bulk.ts";
import type { Column } from "./columns.ts";
import { FilterBar } from "./filter-bar.tsx";
import { formatListQuery, type ListQuery } from "./list-query.ts";
import { type Selection, selectionOf } from "./selections.ts";

/** A deleted resource as it was. */
type Deleted = Resource & { readonly _deleted: { at: string; by?: string; version: number } };

const pageSize = 50;

/** What a filter can name besides the attributes of the resources. */
const deletion: readonly Column[] = [
  { name: "_deleted.at", kind: "time" },
  { name: "_deleted.by", kind: "long" }, // the values of a short text would be completed from the list
];

interface DeletedDialogProps {
  collection: string;
  info: CollectionDetails | undefined;
  columns: readonly Column[];
  /** What the list shows. The dialog begins with its filters. */
  query: ListQuery;
  onClose(): void;
}

export function DeletedDialog({ collection, info, columns, query: shown, onClose }: DeletedDialogProps) {
  const [query, setQuery] = useState<ListQuery>({ ...shown, search: "", sort: [] });
  const request = formatListQuery(query);
  const { data, error, isPending, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ["deleted", collection, request],
    initialPageParam: undefined as Rest<Deleted> | undefined,
    queryFn: ({ pageParam, signal }) =>
      readSome(
        pageParam ??
          (collectionClient(collection)
            .deleted({ query: request, signal })
            .pages() as unknown as Rest<Deleted>),
      ),
    getNextPageParam: ({ items, rest }) => (items.length < pageSize ? undefined : rest),
    structuralSharing: false,
    gcTime: 0,
  });
  const many = useRestoreMany(collection, selectionOf(query, { info, infoOf: knownCollection }), {
    onRestored: () => refetch(),
    onTask: onClose,
  });
  const restore = useAction({
    mutationFn: ({ id, _deleted }: Deleted) =>
      collectionClient(collection).restore(id as string, _deleted.version),
    onSuccess: (_, deleted) => {
      notifications.show({ message: listTexts.broughtBack(nameOf(deleted)), color: "holdfast" });
      many.reset();
      return refetch();
    },
  });
  const failure = restore.error ?? many.error;
  const items = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Dialog
      title={listTexts.deletedTitle(collection)}
      about={listTexts.deletedAbout}
      closing={texts.close}
      onClose={() => {
        // A key that closes the form of a filter leaves the dialog open.
        if (document.activeElement?.closest(".filter-editor") == null) onClose();
      }}
      isApart
      actions={items.length > 0 && many.actions}
    >
      <div className="filters">
        <FilterBar
          {...{ collection, query }}
          columns={[...columns, ...deletion]}
          wrong={wrongParameters(error)}
          onChange={(next) => {
            many.reset();
            setQuery(next);
          }}
        />
      </div>
      <div className="sheet">
        {many.count !== undefined && <span role="status">{listTexts.wouldRestore(many.count)}</span>}
        {isPending && <Busy>{listTexts.deletedLoading}</Busy>}
        {error !== null && (
          <Bad text={error instanceof NotFoundError ? listTexts.noDeletedHistory : messageOf(error)} />
        )}
        {error === null && failure !== null && <NotRestored error={failure} onOpen={onClose} />}
        {!isPending && error === null && items.length === 0 && (
          <span className="soft">
            {request === "" ? listTexts.noneDeleted : listTexts.noneDeletedMatches}
          </span>
        )}
        <ul className="deleted">
          {items.map((each) => (
            <li key={String(each.id)}>
              <a
                href={formatRoute({
                  kind: "resource",
                  collection,
                  query: "",
                  id: String(each.id),
                  tab: "history",
                })}
                onClick={onClose}
              >
                {nameOf(each)}
              </a>
              <span className="soft">
                {each._deleted.by === undefined ? "" : `${each._deleted.by}, `}
                <Time text={each._deleted.at} />
              </span>
              <span className="grow" />
              <Button
                size="compact-xs"
                variant="default"
                leftSection={<IconArrowBackUp size={13} />}
                loading={restore.isPending && restore.variables?.id === each.id}
                onClick={() => restore.mutate(each)}
              >
                {listTexts.restoreOne}
              </Button>
            </li>
          ))}
        </ul>
        {hasNextPage && (
          <Button size="xs" variant="default" onClick={() => void fetchNextPage()}>
            {listTexts.moreDeleted}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** Reads pages until there is enough to show. The service ends a page of large resources early. */
async function readSome(rest: Rest<Deleted>) {
  const items: Deleted[] = [];
  for (;;) {
    const page = await readNext(rest);
    items.push(...page.items);
    if (page.items.length === 0 || items.length >= pageSize) return { items, rest };
  }
}

/** A dry run that says how many would come back, and then the restore of them. */
function useRestoreMany(
  collection: string,
  which: Selection | undefined,
  { onRestored, onTask }: { onRestored: () => Promise<unknown>; onTask: () => void },
) {
  const send = (dryRun: boolean) =>
    collectionClient(collection).restoreDeleted({ ...which, max: mostBulk, dryRun } as never) as Promise<
      BulkResult<object>
    >;
  const check = useAction({ mutationFn: () => send(true) });
  const restore = useAction({
    mutationFn: () => send(false),
    onSuccess: ({ changed }) => {
      notifications.show({ message: listTexts.restored(changed, changed), color: "holdfast" });
      check.reset();
      return onRestored();
    },
  });
  const begin = useTask(
    () => collectionClient(collection).restoreDeletedTask({ ...which, max: mostInTask } as never),
    onTask,
  );
  const count = check.data?.changed;
  const tooLarge = check.error ?? restore.error;
  const button = isTooLarge(tooLarge) ? (
    <Button size="sm" loading={begin.isPending} onClick={() => begin.mutate()}>
      {listTexts.asTask}
    </Button>
  ) : count === undefined ? (
    <Button size="sm" variant="default" loading={check.isPending} onClick={() => check.mutate()}>
      {listTexts.restoreAll}
    </Button>
  ) : (
    <Button size="sm" loading={restore.isPending} disabled={count === 0} onClick={() => restore.mutate()}>
      {listTexts.doRestore(count)}
    </Button>
  );
  return {
    actions: which !== undefined && button,
    count,
    error: begin.error ?? tooLarge,
    reset() {
      check.reset();
      restore.reset();
      begin.reset();
    },
  };
}

/** Why nothing was restored. The sentence of the service names the resource that it refuses. */
function NotRestored({ error, onOpen }: { error: Error; onOpen(): void }) {
  const holder = holderOf(error);
  return (
    <>
      <Bad text={messageOf(error)} />
      {isTooLarge(error) && <span>{listTexts.asTaskHint}</span>}
      {holder !== undefined && <Holder {...holder} onOpen={onOpen} />}
    </>
  );
}

function nameOf(resource: Resource): string {
  return titleOf(resource) ?? String(resource.id);
}
