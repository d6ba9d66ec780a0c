/** The deliveries of a webhook or of a consumer, as a table. */
import { IconChevronRight } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { shortId } from "../parts/formats.ts";
import { Time } from "../parts/value.tsx";
import { administrationTexts } from "../texts.ts";

const own = administrationTexts.deliveries;

/** `first`: the heading of the column with the tags. `children`: a `DeliveryRow` for each delivery. */
export function DeliveryTable({
  label,
  first,
  children,
}: {
  label: string;
  first: string;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls
    <section className="deliveries" aria-label={label} tabIndex={0}>
      <table className="grid plain">
        <thead>
          <tr>
            <th>{first}</th>
            <th>{own.event}</th>
            <th>{own.id}</th>
            <th>{own.time}</th>
            <th className="num">{own.attempts}</th>
            <th className="num">{own.duration}</th>
            <th>
              <span className="sr-only">{own.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

interface RowProps {
  delivery: {
    event: string;
    type: string;
    state: "delivered" | "retrying" | "dead";
    attempts: number;
    milliseconds: number;
    time: string | null;
  };
  /** The text of its tag, which has the colour of its state. */
  tag: string | number;
  /** The buttons at its end. */
  actions: ReactNode;
  /** What is shown below it when it is open. */
  children: ReactNode;
}

const tones = { delivered: "green", retrying: "amber", dead: "red" };

export function DeliveryRow({ delivery, tag, actions, children }: RowProps) {
  const { event, type, state, attempts, milliseconds, time } = delivery;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <tr>
        <td>
          <button
            type="button"
            className="delivery-open"
            aria-expanded={isOpen}
            aria-label={`${tag}. ${own.details(event)}`}
            onClick={() => setOpen(!isOpen)}
          >
            <IconChevronRight size={13} className="turn" aria-hidden="true" />
            <span className={`tag ${tones[state]}`}>{tag}</span>
          </button>
        </td>
        <td>{type}</td>
        <td className="id" title={event}>
          {shortId(event, 6, 4)}
        </td>
        <td className="quiet">{time !== null && <Time text={time} />}</td>
        <td className="num">{attempts}</td>
        <td className="num">{milliseconds.toLocaleString("en")} ms</td>
        <td className="end">{actions}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={7} className="wrap detail">
            {children}
          </td>
        </tr>
      )}
    </>
  );
}
