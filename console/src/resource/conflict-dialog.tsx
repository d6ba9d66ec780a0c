/** Shows both versions after another caller changed the resource, and takes a choice for each attribute. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "../parts/dialog.tsx";
import { formatTime } from "../parts/formats.ts";
import { FullValue } from "../parts/value.tsx";
import { collectionClient, type Resource } from "../service/session.ts";
import { texts } from "../texts.ts";
import {
  type Attributes,
  type Difference,
  differencesOf,
  type Edit,
  merge,
  tagOf,
  valueAt,
  versionOf,
} from "./edit.ts";

interface ConflictDialogProps {
  collection: string;
  id: string;
  edit: Edit;
  theirs: Resource;
  /** The attributes that the caller cannot set. They are always theirs. */
  readOnly: readonly string[];
  isBusy: boolean;
  onSave(merged: Attributes): void;
  onDiscard(): void;
  onClose(): void;
}

type Side = "mine" | "theirs";

export function ConflictDialog(props: ConflictDialogProps) {
  const { collection, id, edit, theirs, readOnly, isBusy, onSave, onDiscard, onClose } = props;
  const all = differencesOf(edit.base, edit.mine, theirs).filter(({ name }) => !readOnly.includes(name));
  const [chosen, setChosen] = useState<ReadonlyMap<string, Side>>(new Map());
  const sideOf = ({ name, by }: Difference) =>
    chosen.get(name) ?? (by === "me" ? "mine" : by === "them" ? "theirs" : undefined);
  const open = all.filter((each) => sideOf(each) === undefined).map(({ name }) => name);
  const taken = new Set(all.filter((each) => sideOf(each) === "mine").map(({ name }) => name));
  const version = versionOf(tagOf(theirs));
  const change = useChange(collection, id, version);
  const { conflict } = texts.resource;
  const who = change?.principal;
  return (
    <Dialog
      title={conflict.title(who)}
      about={conflict.about(
        versionOf(edit.etag),
        version,
        change && formatTime(change.at),
        all.some(({ by }) => by === "both"),
      )}
      width={880}
      onClose={onClose}
      closing={texts.resource.keepEditing}
      isApart
      actions={
        <>
          <Button
            size="sm"
            loading={isBusy}
            disabled={open.length > 0}
            onClick={() => onSave(merge(edit.mine, theirs, taken))}
          >
            {taken.size + open.length === 0 ? conflict.takeTheirs(version) : conflict.save(version)}
          </Button>
          <Button size="sm" variant="default" onClick={onDiscard}>
            {conflict.discard}
          </Button>
          {open.length > 0 && <span className="soft">{conflict.open(open)}</span>}
        </>
      }
    >
      <div className="pick">
        <div className="h" />
        <div className="h">{conflict.mine}</div>
        <div className="h">{conflict.theirs(version, who)}</div>
        {all.map((difference) => (
          <Row
            key={difference.name}
            difference={difference}
            edit={edit}
            theirs={theirs}
            side={sideOf(difference)}
            onChoose={(side) => setChosen(new Map(chosen).set(difference.name, side))}
          />
        ))}
      </div>
    </Dialog>
  );
}

interface RowProps {
  difference: Difference;
  edit: Edit;
  theirs: Resource;
  side: Side | undefined;
  onChoose(side: Side): void;
}

function Row({ difference: { name, by }, edit: { base, mine }, theirs, side, onChoose }: RowProps) {
  const { conflict } = texts.resource;
  const cell = (own: Side, attributes: Attributes, isUnchanged: boolean) => (
    <label className={side === own ? "choice on" : "choice"}>
      <input
        type="radio"
        name={`conflict-${name}`}
        checked={side === own}
        onChange={() => onChoose(own)}
        aria-label={`${name}: ${own === "mine" ? conflict.mine : conflict.theirsShort}`}
      />
      <span className="value">
        <FullValue value={valueAt(attributes, name)} />
        {isUnchanged && <span className="none unchanged">{conflict.unchanged}</span>}
      </span>
    </label>
  );
  return (
    <>
      <div className="h">
        <div>{name}</div>
        {by === "both" && (
          <div className="was">
            {conflict.was} <FullValue value={valueAt(base, name)} most={200} isQuoted />
          </div>
        )}
      </div>
      {cell("mine", mine, by === "them")}
      {cell("theirs", theirs, by === "me")}
    </>
  );
}

/** The change that made a version. */
function useChange(collection: string, id: string, version: number | undefined) {
  const { data } = useQuery({
    queryKey: ["history", collection, id, "latest", version],
    queryFn: async ({ signal }) => (await collectionClient(collection).history(id, { signal }).page()).items,
  });
  return data?.find((each) => each.version === version);
}
