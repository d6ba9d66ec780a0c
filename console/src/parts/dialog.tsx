/** A dialog: a title, a sentence, its content, and its buttons. */
import { Modal } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";

interface DialogProps {
  title: string;
  /** What the dialog is about, in a sentence. */
  about?: ReactNode;
  width?: number;
  /** Whether only a button closes it, for example because it shows something once. */
  isSticky?: boolean;
  children?: ReactNode;
  /** The buttons. */
  footer?: ReactNode;
  onClose(): void;
}

export function Dialog({
  title,
  about,
  width = 720,
  isSticky = false,
  children,
  footer,
  onClose,
}: DialogProps) {
  useFocusReturn();
  const content = useRef<HTMLDivElement>(null);
  // A button that is gone or disabled after its press has lost the focus.
  useEffect(() => {
    if (document.activeElement === document.body) content.current?.focus({ preventScroll: true });
  });
  return (
    <Modal.Root
      opened
      onClose={onClose}
      size={width}
      closeOnEscape={!isSticky}
      closeOnClickOutside={!isSticky}
      centered
      classNames={{ content: "dialog" }}
      lockScroll={false} // the page itself never scrolls
    >
      <Modal.Overlay />
      <Modal.Content ref={content} tabIndex={-1}>
        <header>
          <Modal.Title>{title}</Modal.Title>
          {about !== undefined && <Modal.Body>{about}</Modal.Body>}
        </header>
        <div className="dialog-body">{children}</div>
        {footer !== undefined && <footer>{footer}</footer>}
      </Modal.Content>
    </Modal.Root>
  );
}

/** Gives the focus back to what had it. If that is gone, for example the line of a menu, to the panel or the list. */
function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      setTimeout(() => {
        const isLost = document.activeElement === null || document.activeElement === document.body;
        const isThere = before instanceof HTMLElement && before !== document.body && before.isConnected;
        const target = isThere
          ? before
          : (document.querySelector<HTMLElement>(".panel, [role=grid]") ?? document.querySelector("main"));
        if (isLost) target?.focus({ preventScroll: true });
      });
    },
    [before],
  );
}
