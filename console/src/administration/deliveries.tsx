/** The deliveries of a webhook, with the responses of the receiver. */
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconChevronRight, IconRefresh } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Webhook, WebhookDelivery, WebhookTest } from "holdfast-client";
import { useState } from "react";
import { messageOf, Problem } from "../parts/problem.tsx";
import { formatTime } from "../parts/time.ts";
import { client } from "../service/session.ts";
import { administrationTexts } from "../texts.ts";
import { Waiting } from "./frame.tsx";
import { shortId } from "./webhook-values.ts";
import { webhooksKey } from "./webhooks-page.tsx";

const own = administrationTexts.webhooks;

export function Deliveries({ webhook: { id, url } }: { webhook: Webhook }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...webhooksKey, id, "deliveries"],
    queryFn: ({ signal }) => client.$webhooks.deliveries(id, { limit: 100, signal }),
    refetchInterval: 5_000,
  });
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Waiting />;
  if (data.length === 0) return <p className="webhook-note soft">{own.noDeliveries}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls
    <section className="deliveries" aria-label={own.deliveries(url)} tabIndex={0}>
      <table className="grid plain">
        <thead>
          <tr>
            <th>{own.response}</th>
            <th>{own.event}</th>
            <th>{own.id}</th>
            <th>{own.time}</th>
            <th className="num">{own.attempts}</th>
            <th className="num">{own.duration}</th>
            <th>
              <span className="sr-only">{own.sendAgain}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {data.map((delivery) => (
            <Delivery key={delivery.event} webhookId={id} delivery={delivery} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const tones = { delivered: "green", retrying: "amber", dead: "red" };

function Delivery({ webhookId, delivery }: { webhookId: string; delivery: WebhookDelivery }) {
  const { event, type, state, status, attempts, milliseconds, time } = delivery;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <tr>
        <td>
          <button
            type="button"
            className="delivery-open"
            aria-expanded={isOpen}
            aria-label={`${status ?? own.noAnswer}. ${own.details(event)}`}
            onClick={() => setOpen(!isOpen)}
          >
            <IconChevronRight size={13} className="turn" aria-hidden="true" />
            <span className={`tag ${tones[state]}`}>{status ?? own.noAnswer}</span>
          </button>
        </td>
        <td>{type}</td>
        <td className="id" title={event}>
          {shortId(event)}
        </td>
        <td className="quiet">
          <time dateTime={time} title={time}>
            {formatTime(time)}
          </time>
        </td>
        <td className="num">{attempts}</td>
        <td className="num">{milliseconds.toLocaleString("en")} ms</td>
        <td className="end">{state !== "delivered" && <SendAgain id={webhookId} event={event} />}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={7} className="wrap detail">
            {delivery.next !== null && <p>{own.next(formatTime(delivery.next))}</p>}
            {state === "dead" && <p>{own.dead}</p>}
            <Outcome attempt={delivery} />
          </td>
        </tr>
      )}
    </>
  );
}

function SendAgain({ id, event }: { id: string; event: string }) {
  const queries = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => client.$webhooks.retry(id, event),
    onError: (error) => notifications.show({ color: "red", message: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: [...webhooksKey, id] }),
  });
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<IconRefresh size={12} />}
      loading={isPending}
      onClick={() => mutate()}
    >
      {own.sendAgain}
    </Button>
  );
}

/** What came back: the body of the response, or why no response came. */
export function Outcome({ attempt }: { attempt: WebhookDelivery | WebhookTest }) {
  const { status, response, error } = attempt;
  return (
    <>
      {error !== null && <p>{error}</p>}
      {response !== "" && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long text scrolls
        <pre className="code" tabIndex={0}>
          {response}
        </pre>
      )}
      {response === "" && error === null && status !== null && <p className="soft">{own.noBody}</p>}
    </>
  );
}
