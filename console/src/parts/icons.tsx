/** Icons, by the meaning that they have in the console. */
import {
  IconAbc,
  IconAlignLeft,
  IconBraces,
  IconCalendar,
  IconCalendarTime,
  IconCircleDot,
  IconHash,
  IconId,
  IconLink,
  IconList,
  IconQuestionMark,
  IconToggleLeft,
} from "@tabler/icons-react";
import type { Kind } from "../service/schema.ts";

const byKind: Record<Kind, typeof IconAbc> = {
  id: IconId,
  text: IconAbc,
  long: IconAlignLeft,
  number: IconHash,
  integer: IconHash,
  exact: IconHash,
  boolean: IconToggleLeft,
  time: IconCalendarTime,
  date: IconCalendar,
  choice: IconCircleDot,
  list: IconList,
  object: IconBraces,
  reference: IconLink,
  any: IconQuestionMark,
};

/** The icon of an attribute. */
export function KindIcon({ kind, size = 15 }: { kind: Kind; size?: number }) {
  const Icon = byKind[kind];
  return <Icon size={size} aria-hidden="true" />;
}

/** The logo. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0f766e" />
      <path d="M10 8v16M22 8v16M10 16h12" fill="none" stroke="#fff" strokeWidth="3.5" strokeLinecap="round" />
    </svg>
  );
}
