/** A button that the caller cannot use, with the reason. */
import { Tooltip } from "@mantine/core";
import type { ReactElement } from "react";

interface ExplainedProps {
  /** Why it cannot be used; `undefined` if it can. */
  reason: string | undefined;
  children: ReactElement;
}

/** Shows the reason beside what it is about. The element must stay focusable: use `aria-disabled` or `data-disabled`. */
export function Explained({ reason, children }: ExplainedProps) {
  return (
    <Tooltip
      label={reason}
      disabled={reason === undefined}
      multiline
      maw={340}
      zIndex={400}
      events={{ hover: true, focus: true, touch: true }}
    >
      {children}
    </Tooltip>
  );
}
