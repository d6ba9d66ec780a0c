/** A menu of what can be done with one thing, below a button with three dots. */
import { ActionIcon, Menu } from "@mantine/core";
import { type IconCheck, IconDots } from "@tabler/icons-react";
import type { ReactNode } from "react";

interface DotsProps {
  /** What the button says to a screen reader. */
  label: string;
  size?: "sm" | "md";
  className?: string;
  children: ReactNode;
}

export function Dots({ label, size = "sm", className = "", children }: DotsProps) {
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon size={size} className={className} aria-label={label}>
          <IconDots size={className === "dots" ? 14 : 16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown maw={320}>{children}</Menu.Dropdown>
    </Menu>
  );
}

interface ItemProps {
  text: string;
  Icon: typeof IconCheck;
  isDangerous?: boolean;
  isDisabled?: boolean;
  /** What is said below the text. */
  hint?: ReactNode;
  onClick(): void;
}

export function Item({ text, Icon, isDangerous = false, isDisabled = false, hint, onClick }: ItemProps) {
  return (
    <Menu.Item
      {...(isDangerous && { color: "red" })}
      leftSection={<Icon size={14} />}
      disabled={isDisabled}
      onClick={onClick}
    >
      {text}
      {hint}
    </Menu.Item>
  );
}
