/** The tasks of the service: how far each one is, what it could not change, and the dialogs that cancel and undo one. */
import { Button, Progress } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Task, TaskRefusal } from "holdfast-client";
import { useState } from "react";
import { Bad, Question } from "../parts/dialog.tsx";
import { Head } from "../parts/head.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { Time } from "../parts/value.tsx";
import { tasksKey } from "../service/administrator.ts";
import { queries } from "../service/queries.ts";
import { client } from "../service/session.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { Waiting } from "./frame.tsx";

const own = administrationTexts.tasks;
const tones = {
  checking: "amber",
  running: "amber",
  done: "green",
  refused: "red",
  cancelled: "",
  failed: "red",
};

/** The most tasks that the page shows. */
const most = 100;
/** How often the page reads them while one works, and otherwise, in milliseconds. */
const busyMs = 1_000;
const idleMs = 5_000;

interface Asked {
  what: "cancel" | "undo";
  task: Task;
}

export function TasksPage() {
  const { data, error, refetch } = useQuery({
    queryKey: tasksKey,
    queryFn: ({ signal }) => client.$tasks.list({ limit: most, signal }),
    refetchInterval: ({ state }) => (state.data?.some(isAtWork) ? busyMs : idleMs),
  });
  const [asked, setAsked] = useState<Asked>();
  return (
    <>
      <Head title={listTexts.pageNames.tasks} />
      <p className="hint mail-hint">{own.about(most)}</p>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data?.length === 0 && <Empty title={own.none} hint={own.noneHint} />}
      <ul className="webhooks">
        {data?.map((task) => (
          <TaskCard key={task.id} task={task} onAsk={setAsked} />
        ))}
      </ul>
      {asked !== undefined && <TaskQuestion {...asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function isAtWork({ endedAt }: Task): boolean {
  return endedAt === undefined;
}

/** What it does, and where. */
function nameOf({ kind, collection }: Task): string {
  return `${own.kinds[kind]} · ${collection ?? own.several}`;
}

function TaskCard({ task, onAsk }: { task: Task; onAsk(asked: Asked): void }) {
  const { id, state, by, dryRun, total, changed, refused, firstRefused } = task;
  const turns = state === "checking" || dryRun ? task.checked : task.done;
  const { reason, undoes, undoneBy, createdAt } = task;
  const canUndo = !dryRun && changed > 0 && undoneBy === undefined;
  const what = isAtWork(task) ? "cancel" : canUndo ? "undo" : undefined;
  const name = nameOf(task);
  return (
    <li className="card mail">
      <span className="figures">
        <b>{name}</b>
        <span className={`tag ${tones[state]}`}>{own.states[state]}</span>
        {dryRun && <span className="tag">{own.dryRun}</span>}
        <span className="grow" />
        {what !== undefined && (
          <Button size="compact-sm" variant="default" onClick={() => onAsk({ what, task })}>
            {own[what]}
          </Button>
        )}
      </span>
      <Progress value={total === 0 ? 0 : (turns / total) * 100} aria-label={name} />
      <span className="figures">
        <span>{own.progress(turns, total)}</span>
        <span>{dryRun ? own.wouldChange(changed) : own.changed(changed)}</span>
        {refused > 0 && <span className="bad">{own.refused(refused)}</span>}
        <span className="soft">
          {by !== null && `${own.by(by)} · `}
          <Time text={createdAt} />
        </span>
      </span>
      <span className="id">{id}</span>
      {reason !== undefined && <Bad text={reason} />}
      {undoes !== undefined && <span className="soft">{own.undoes(undoes)}</span>}
      {undoneBy !== undefined && <span className="soft">{own.undoneBy(undoneBy)}</span>}
      {firstRefused.length > 0 && (
        <Refusals task={id} refusals={firstRefused} more={refused - firstRefused.length} />
      )}
    </li>
  );
}

function Refusals({
  task,
  refusals,
  more,
}: {
  task: string;
  refusals: readonly TaskRefusal[];
  more: number;
}) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list scrolls */}
      <section className="task-refused" aria-label={own.refusals(task)} tabIndex={0}>
        {refusals.map(({ resource, line, element, detail }, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a resource can have several refusals
          <div key={n}>
            <b>{resource ?? (line !== undefined && listTexts.line(line, element))}</b> {detail}
          </div>
        ))}
      </section>
      {more > 0 && <span className="soft">{own.moreRefusals(more)}</span>}
    </>
  );
}

function TaskQuestion({ what, task, onClose }: Asked & { onClose(): void }) {
  const isCancel = what === "cancel";
  const run = async () => {
    await client.$tasks[what](task.id);
    await queries.invalidateQueries({ queryKey: tasksKey });
  };
  return (
    <Question
      title={(isCancel ? own.cancelTitle : own.undoTitle)(nameOf(task))}
      about={(isCancel ? own.cancelAbout : own.undoAbout)(task.changed)}
      action={own[what]}
      {...(isCancel && { closing: own.keep })}
      isDangerous={isCancel}
      run={run}
      onClose={onClose}
    />
  );
}
