/** The code of the configuration: its functions with their calls, its consumers, its jobs, and the calls that failed last. */
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { CodeFailure, CodeFunction, ConsumerDelivery, ConsumerStatus, Job } from "holdfast-client";
import { type ReactNode, useState } from "react";
import { formatTime } from "../parts/formats.ts";
import { Head } from "../parts/head.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { Time } from "../parts/value.tsx";
import { useCode } from "../service/administrator.ts";
import { messageOf } from "../service/errors.ts";
import { queries, useAction } from "../service/queries.ts";
import { client } from "../service/session.ts";
import { administrationTexts, listTexts } from "../texts.ts";
import { DeliveryRow, DeliveryTable } from "./deliveries.tsx";
import { Waiting } from "./frame.tsx";

const own = administrationTexts.code;

/** How often the page reads, in milliseconds. */
const everyMs = 5_000;

const consumersKey = ["consumers"];
const jobsKey = ["jobs"];

export function CodePage() {
  const { data, error, refetch } = useCode({ everyMs });
  const { functions = [], failures = [] } = data ?? {};
  const has = (kind: CodeFunction["kind"]) => functions.some((each) => each.kind === kind);
  return (
    <>
      <Head title={listTexts.pageNames.code} />
      <p className="hint mail-hint">{own.about}</p>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      {data !== undefined && functions.length === 0 && <Empty title={own.none} hint={own.noneHint} />}
      {functions.length > 0 && (
        <div className="health">
          <Functions functions={functions} />
          {has("consumer") && (
            <Cards
              title={own.consumers}
              queryKey={consumersKey}
              read={(signal) => client.$consumers.list({ signal })}
              card={(consumer) => <ConsumerCard key={consumer.name} consumer={consumer} />}
            />
          )}
          {has("job") && (
            <Cards
              title={own.jobs}
              queryKey={jobsKey}
              read={(signal) => client.$jobs.list({ signal })}
              card={(job) => <JobCard key={job.name} job={job} />}
            />
          )}
          <Failures failures={failures} />
        </div>
      )}
    </>
  );
}

function Functions({ functions }: { functions: readonly CodeFunction[] }) {
  return (
    <>
      <h2 className="health-title">{own.functions}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls */}
      <section className="card code-table" aria-label={own.functions} tabIndex={0}>
        <table className="grid plain">
          <thead>
            <tr>
              <th>{own.name}</th>
              <th>{own.kind}</th>
              <th className="num">{own.calls}</th>
              <th className="num">{own.failures}</th>
              <th className="num">{own.mean}</th>
            </tr>
          </thead>
          <tbody>
            {functions.map(({ kind, name, calls, failures, seconds }) => (
              <tr key={`${kind} ${name}`}>
                <td>{name}</td>
                <td className="quiet">{own.kinds[kind]}</td>
                <td className="num">{calls.toLocaleString("en")}</td>
                <td className="num">
                  {failures === 0 ? 0 : <span className="tag red">{failures.toLocaleString("en")}</span>}
                </td>
                <td className="num">
                  {calls === 0 ? (
                    <span className="none">—</span>
                  ) : (
                    millisecondsText((seconds / calls) * 1_000)
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function millisecondsText(milliseconds: number): string {
  const digits = milliseconds < 10 ? 1 : 0;
  return `${milliseconds.toLocaleString("en", { maximumFractionDigits: digits })} ms`;
}

interface CardsProps<Item> {
  title: string;
  queryKey: string[];
  read(signal: AbortSignal): Promise<readonly Item[]>;
  card(item: Item): ReactNode;
}

function Cards<Item>({ title, queryKey, read, card }: CardsProps<Item>) {
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => read(signal),
    refetchInterval: everyMs,
  });
  return (
    <>
      <h2 className="health-title">{title}</h2>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Waiting />}
      <ul className="webhooks code-list">{data?.map(card)}</ul>
    </>
  );
}

function ConsumerCard({ consumer }: { consumer: ConsumerStatus }) {
  const { name, enabled, state, reason } = consumer;
  const [isOpen, setOpen] = useState(false);
  const turn = useAction({
    mutationFn: () => client.$consumers.enable(name, !enabled),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: consumersKey }),
  });
  return (
    <li className="card webhook">
      <div className="webhook-head">
        <button
          type="button"
          className="webhook-open"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <IconChevronRight size={15} className="turn" aria-hidden="true" />
          <span className="webhook-name">
            <b>{name}</b>
            <span className="soft">{summaryOf(consumer)}</span>
          </span>
        </button>
        <span className="webhook-actions">
          <span className={`tag ${toneOf(consumer)}`}>{own.states[state]}</span>
          {state !== "removed" && (
            <Button
              size="compact-xs"
              variant="default"
              loading={turn.isPending}
              onClick={() => turn.mutate()}
            >
              {enabled ? own.turnOff : own.turnOn}
            </Button>
          )}
        </span>
      </div>
      {reason !== undefined && <p className="webhook-note wrong">{reason}</p>}
      {isOpen && <Deliveries name={name} />}
    </li>
  );
}

function toneOf({ state, retrying }: ConsumerStatus): string {
  if (state === "failing") return "red";
  if (state !== "active") return "";
  return retrying > 0 ? "amber" : "green";
}

function summaryOf({ waiting, retrying, dead, lost, lagSeconds, lastSuccess }: ConsumerStatus): string {
  return [
    ...(waiting > 0 ? [own.waiting(waiting)] : []),
    ...(lagSeconds >= 1 ? [own.lag(lagSeconds)] : []),
    ...(retrying > 0 ? [own.retrying(retrying)] : []),
    ...(dead > 0 ? [own.dead(dead)] : []),
    ...(lost > 0 ? [own.lost(lost)] : []),
    lastSuccess === null ? own.nothingYet : own.handled(formatTime(lastSuccess)),
  ].join(", ");
}

function Deliveries({ name }: { name: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...consumersKey, name, "deliveries"],
    queryFn: ({ signal }) => client.$consumers.deliveries(name, { limit: 100, signal }),
    refetchInterval: everyMs,
  });
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Waiting />;
  if (data.length === 0) return <p className="webhook-note soft">{own.noDeliveries}</p>;
  return (
    <DeliveryTable label={own.deliveries(name)} first={own.state}>
      {data.map((delivery) => (
        <Delivery key={delivery.event} consumer={name} delivery={delivery} />
      ))}
    </DeliveryTable>
  );
}

function Delivery({ consumer, delivery }: { consumer: string; delivery: ConsumerDelivery }) {
  const { event, state, error, next } = delivery;
  const actions = (
    <>
      {state !== "delivered" && <Change what="retry" consumer={consumer} event={event} />}
      {state === "retrying" && <Change what="skip" consumer={consumer} event={event} />}
    </>
  );
  return (
    <DeliveryRow delivery={delivery} tag={own.deliveryStates[state]} actions={actions}>
      {next !== null && <p>{administrationTexts.deliveries.next(formatTime(next))}</p>}
      {error !== null && <Stack text={error} />}
    </DeliveryRow>
  );
}

/** The button that lets a consumer handle an event again, or gives it up. */
function Change({ what, consumer, event }: { what: "retry" | "skip"; consumer: string; event: string }) {
  const { mutate, isPending } = useAction({
    mutationFn: () => client.$consumers[what](consumer, event),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: consumersKey }),
  });
  return (
    <Button size="compact-xs" variant="default" ml={6} loading={isPending} onClick={() => mutate()}>
      {own[what]}
    </Button>
  );
}

const resultTones = { succeeded: "green", failed: "red", interrupted: "amber" };

function JobCard({ job: { name, cron, timezone, next, running, last } }: { job: Job }) {
  const run = useAction({
    mutationFn: () => client.$jobs.run(name),
    onSuccess: () => notifications.show({ message: own.started(name) }),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: jobsKey }),
  });
  const about = [
    `${cron} ${timezone}`,
    next === null ? own.noNext : own.nextRun(formatTime(next)),
    last === null ? own.neverRun : own.lastRun(formatTime(last.end)),
    ...(last !== null && last.attempt > 1 ? [own.attempt(last.attempt)] : []),
    ...(last !== null && last.missed > 0 ? [own.missed(last.missed)] : []),
  ];
  return (
    <li className="card webhook">
      <div className="webhook-head code-job">
        <span className="webhook-name">
          <b>{name}</b>
          <span className="soft">{about.join(" · ")}</span>
        </span>
        <span className="webhook-actions">
          {running !== null && <span className="tag amber">{own.running}</span>}
          {running === null && last !== null && (
            <span className={`tag ${resultTones[last.result]}`}>{own.results[last.result]}</span>
          )}
          <Button
            size="compact-xs"
            variant="default"
            disabled={running !== null || next === null}
            loading={run.isPending}
            onClick={() => run.mutate()}
          >
            {own.runNow}
          </Button>
        </span>
      </div>
      {last?.message != null && (
        <div className="webhook-note">
          <Stack text={last.message} />
        </div>
      )}
    </li>
  );
}

function Failures({ failures }: { failures: readonly CodeFailure[] }) {
  return (
    <>
      <h2 className="health-title">{own.lastFailures}</h2>
      {failures.length === 0 && <p className="soft">{own.noFailures}</p>}
      <ul className="webhooks code-list">
        {failures.map((failure, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: several failures can have the same time
          <Failure key={`${failure.time} ${failures.length - n}`} failure={failure} />
        ))}
      </ul>
    </>
  );
}

function Failure({ failure: { time, kind, name, reason, message } }: { failure: CodeFailure }) {
  const [isOpen, setOpen] = useState(false);
  const [first = ""] = message.split("\n", 1);
  return (
    <li className="card webhook">
      <div className="webhook-head">
        <button
          type="button"
          className="webhook-open"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <IconChevronRight size={15} className="turn" aria-hidden="true" />
          <span className="webhook-name">
            <b>
              {own.kinds[kind]} {name}
            </b>
            <span className="soft">{first}</span>
          </span>
        </button>
        <span className="webhook-actions">
          <span className="tag red">{own.reasons[reason]}</span>
          <span className="soft">
            <Time text={time} />
          </span>
        </span>
      </div>
      {isOpen && (
        <div className="webhook-note">
          <Stack text={message} />
        </div>
      )}
    </li>
  );
}

/** An error with the lines of the file. */
function Stack({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls
    <pre className="code" tabIndex={0}>
      {text}
    </pre>
  );
}
