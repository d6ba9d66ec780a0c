/** The resource of a panel: reads it, follows it, and keeps what the user edits. */
import { useQuery } from "@tanstack/react-query";
import { type CollectionDetails, NotFoundError } from "holdfast-client";
import { useCallback, useEffect, useState } from "react";
import { useChanges } from "../service/live.ts";
import { queries } from "../service/queries.ts";
import { client, collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { findDraft, forgetDraft, resumeDraft, resumeWithout, useKeptDraft } from "./drafts.ts";
import { type Edit, isChanged, startEdit, tagOf } from "./edit.ts";

/** The state of one resource: what the service has (`current`), and what the user edits. */
export function useResource(collection: string, id: string) {
  const [edit, setEdit] = useState<Edit>();
  const { data, error, refetch } = useQuery({
    queryKey: ["resource", collection, id],
    queryFn: async ({ signal }) => (await collectionClient(collection).get(id, { signal })) as Resource,
    structuralSharing: false, // a copy would have no ETag
    refetchOnMount: "always",
  });
  useChanges(
    collection,
    useCallback(
      (changes) => {
        if (changes.some((each) => each.id === undefined || each.id === id)) void refetch();
      },
      [id, refetch],
    ),
  );
  useKeptDraft(collection, id, edit);
  const isDeleted = error instanceof NotFoundError;
  useEffect(() => {
    const draft = edit === undefined ? findDraft(collection, id) : undefined;
    if (draft !== undefined && (isDeleted || data !== undefined)) {
      setEdit(isDeleted || data === undefined ? resumeWithout(draft) : resumeDraft(draft, data));
      forgetDraft(collection, id);
      return;
    }
    if (data === undefined) return;
    if (edit === undefined || (!isChanged(edit) && edit.etag !== tagOf(data)))
      setEdit(startEdit(data, tagOf(data)));
  }, [data, edit, isDeleted, collection, id]);
  const tag = data === undefined ? undefined : tagOf(data);
  // The rights can depend on the attributes.
  useEffect(() => {
    if (tag !== undefined) void queries.invalidateQueries({ queryKey: ["access", collection] });
  }, [tag, collection]);
  const onEdit = useCallback(
    (change: (edit: Edit) => Edit) => setEdit((before) => (before === undefined ? before : change(before))),
    [],
  );
  /** Shows what a write returned. */
  const accept = useCallback(
    (resource: Resource) => {
      setEdit(undefined);
      const key = ["resource", collection, id];
      void queries.cancelQueries({ queryKey: key });
      // A caller who cannot read gets only the id.
      if (Object.keys(resource).length > 1) {
        queries.setQueryData(key, resource);
        setEdit(startEdit(resource, tagOf(resource)));
      } else void queries.invalidateQueries({ queryKey: key });
      for (const name of ["history", "referred"])
        void queries.invalidateQueries({ queryKey: [name, collection] });
    },
    [collection, id],
  );
  return {
    current: data,
    edit,
    isDeleted,
    error,
    setEdit,
    onEdit,
    accept,
    reload: () => void refetch(),
  };
}

/** What the caller can do with a resource, or with new ones. */
export function useRights(
  collection: string,
  operation: "update" | "create" | "delete",
  id?: string,
  isNeeded = true,
) {
  const { data } = useQuery({
    queryKey: ["access", collection, operation, id ?? null, null],
    enabled: isNeeded,
    queryFn: ({ signal }) =>
      client.$access({ collection, operation, ...(id !== undefined && { id }) }, { signal }),
    staleTime: 30_000,
  });
  return data;
}

/** Why the caller can do something with no resource of a collection; `undefined` if it is allowed for some. */
export function useReason(info: CollectionDetails | undefined, operation: "update" | "create" | "delete") {
  const isRefused = info !== undefined && !info.operations.includes(operation);
  const rights = useRights(info?.name ?? "", operation, undefined, isRefused);
  return isRefused ? (rights?.reason ?? texts.access.no) : undefined;
}
