/** The resource of a panel: reads it, follows it, and keeps what the user edits. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { etagOf, NotFoundError } from "holdfast-client";
import { useCallback, useEffect, useState } from "react";
import type { CollectionDetails } from "../service/collections.ts";
import { useChanges } from "../service/live.ts";
import { client, collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import { type Edit, isChanged, startEdit } from "./edit.ts";
import { withoutCoding } from "./tags.ts";

/** The state of one resource. */
export interface ResourceState {
  /** What the service has. */
  current: Resource | undefined;
  /** What the user edits. */
  edit: Edit | undefined;
  isDeleted: boolean;
  error: Error | null;
  setEdit(edit: Edit): void;
  /** Changes what the user edits. */
  onEdit(change: (edit: Edit) => Edit): void;
  /** Shows what a write returned. */
  accept(resource: Resource): void;
  reload(): void;
}

export function useResource(collection: string, id: string): ResourceState {
  const queries = useQueryClient();
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
  useEffect(() => {
    if (data === undefined) return;
    if (edit === undefined || (!isChanged(edit) && edit.etag !== tagOf(data)))
      setEdit(startEdit(data, tagOf(data)));
  }, [data, edit]);
  const tag = data === undefined ? undefined : tagOf(data);
  // The rights can depend on the attributes.
  useEffect(() => {
    if (tag !== undefined) void queries.invalidateQueries({ queryKey: ["access", collection] });
  }, [tag, collection, queries]);
  const onEdit = useCallback(
    (change: (edit: Edit) => Edit) => setEdit((before) => (before === undefined ? before : change(before))),
    [],
  );
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
    [collection, id, queries],
  );
  return {
    current: data,
    edit,
    isDeleted: error instanceof NotFoundError,
    error,
    setEdit,
    onEdit,
    accept,
    reload: () => void refetch(),
  };
}

/** The ETag of a resource, equal for all responses with the same version; empty if it is not known. */
export function tagOf(resource: object): string {
  return withoutCoding(etagOf(resource) ?? "");
}

/** The number of a version, from its ETag. */
export function versionOf(etag: string): number | undefined {
  const [, digits] = /^(?:W\/)?"(\d+)/.exec(etag) ?? [];
  return digits === undefined ? undefined : Number(digits);
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
