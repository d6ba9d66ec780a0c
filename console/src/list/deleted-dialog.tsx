/** The deleted resources of a collection, with a way to bring each back. */
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconArrowBackUp } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { NotFoundError } from "holdfast-client";
import { Bad, Busy, Dialog } from "../parts/dialog.tsx";
import { Time } from "../parts/value.tsx";
import { formatRoute } from "../route.ts";
import { messageOf } from "../service/errors.ts";
import { type Rest, readNext, useAction } from "../service/queries.ts";
import { titleOf } from "../service/schema.ts";
import { collectionClient, type Resource } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";

/** A deleted resource as it was. */
type Deleted = Resource & { readonly _deleted: { at: string; by?: string; version: number } };

const pageSize = 50;

interface DeletedDialogProps {
  collection: string;
  onClose(): void;
}

export function DeletedDialog({ collection, onClose }: DeletedDialogProps) {
  const { data, error, isPending, hasNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ["deleted", collection],
    initialPageParam: undefined as Rest<Deleted> | undefined,
    queryFn: ({ pageParam, signal }) =>
      readNext(
        pageParam ??
          (collectionClient(collection)
            .deleted({ limit: pageSize, signal })
            .pages() as unknown as Rest<Deleted>),
      ),
    getNextPageParam: ({ items, limit = pageSize, rest }) =>
      items.length < Math.min(pageSize, limit) ? undefined : rest,
    structuralSharing: false,
    gcTime: 0,
  });
  const restore = useAction({
    mutationFn: ({ id, _deleted }: Deleted) =>
      collectionClient(collection).restore(id as string, _deleted.version),
    onSuccess: (_, deleted) => {
      notifications.show({ message: listTexts.broughtBack(nameOf(deleted)), color: "holdfast" });
      return refetch();
    },
  });
  const items = data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Dialog
      title={listTexts.deletedTitle(collection)}
      about={listTexts.deletedAbout}
      closing={texts.close}
      onClose={onClose}
    >
      <div className="sheet">
        {isPending && <Busy>{listTexts.deletedLoading}</Busy>}
        {error !== null && (
          <Bad text={error instanceof NotFoundError ? listTexts.noDeletedHistory : messageOf(error)} />
        )}
        {restore.error !== null && <Bad text={messageOf(restore.error)} />}
        {!isPending && error === null && items.length === 0 && (
          <span className="soft">{listTexts.noneDeleted}</span>
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

function nameOf(resource: Resource): string {
  return titleOf(resource) ?? String(resource.id);
}
