/** The frame of a panel: its title, its tabs, its content, its buttons, and the question before unsaved changes are lost. */
import { ActionIcon, Button, Kbd } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { IconX } from "@tabler/icons-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Question } from "../parts/dialog.tsx";
import { type Route, setGuard, type Tab } from "../route.ts";
import { texts } from "../texts.ts";
import "./resource.css";

interface PanelFrameProps {
  title: string;
  /** What stands between the title and the button that closes the panel. */
  actions?: ReactNode;
  tabs: readonly Tab[];
  tab: Tab;
  children: ReactNode;
  footer?: ReactNode;
  onTab(tab: Tab): void;
  onSave(): void;
  onClose(): void;
}

export function PanelFrame(props: PanelFrameProps) {
  const { title, actions, tabs, tab, children, footer, onTab, onClose } = props;
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  useKeys(props);
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  const move = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length] as Tab;
    onTab(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  return (
    <section className="panel" aria-label={title} ref={panel} tabIndex={-1}>
      <div className="top">
        <h2 title={title}>{title}</h2>
        <span className="grow" />
        {actions}
        <ActionIcon aria-label={texts.close} onClick={onClose}>
          <IconX size={16} />
        </ActionIcon>
      </div>
      <div className="tabs" role="tablist" onKeyDown={move}>
        {tabs.map((each) => (
          <button
            key={each}
            id={`${id}-${each}`}
            type="button"
            role="tab"
            aria-selected={each === tab}
            aria-controls={`${id}-body`}
            tabIndex={each === tab ? 0 : -1}
            onClick={() => onTab(each)}
          >
            {texts.tabs[each]}
          </button>
        ))}
      </div>
      <div className="body" role="tabpanel" id={`${id}-body`} aria-labelledby={`${id}-${tab}`}>
        {children}
      </div>
      {footer !== undefined && <div className="foot2">{footer}</div>}
    </section>
  );
}

/** Ctrl-S and Cmd-S save. Esc closes, unless it belongs to a dialog, a menu or a list. */
function useKeys(props: { onSave(): void; onClose(): void }): void {
  const onKeyDown = (event: globalThis.KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "s") {
      event.preventDefault();
      if (!isOverlaid('[aria-modal="true"]')) props.onSave();
    } else if (
      event.key === "Escape" &&
      !event.defaultPrevented &&
      !isOverlaid(overlays) &&
      !isFieldOutside(event.target)
    ) {
      event.preventDefault();
      if (!leaveEditor(event.target)) props.onClose();
    }
  };
  useWindowEvent("keydown", onKeyDown, { capture: true });
}

const overlays = '[role="dialog"], [role="menu"], [role="listbox"]';

function isOverlaid(selector: string): boolean {
  return [...document.querySelectorAll(selector)].some((each) => each.getClientRects().length > 0);
}

/** Esc in a field of the list belongs to that field. */
function isFieldOutside(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.matches("input, textarea") && target.closest(".panel, table") === null
  );
}

/** In the JSON editor, the first Esc leaves the editor, so that Tab works again. */
function leaveEditor(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || target.closest(".cm-editor") === null) return false;
  target.blur();
  return true;
}

interface PanelButtonsProps {
  save: { label: string; isDisabled: boolean; isBusy: boolean; onPress(): void };
  giveUp: { label: string; isDisabled?: boolean; onPress(): void };
  /** What is said beside the buttons. */
  state: string;
  /** Whether the key that saves is shown. */
  hasKey?: boolean;
}

export function PanelButtons({ save, giveUp, state, hasKey = true }: PanelButtonsProps) {
  return (
    <>
      <Button size="sm" disabled={save.isDisabled} loading={save.isBusy} onClick={save.onPress}>
        {save.label}
      </Button>
      <Button size="sm" variant="default" disabled={giveUp.isDisabled === true} onClick={giveUp.onPress}>
        {giveUp.label}
      </Button>
      <span className="grow" />
      <span className="soft state" role="status">
        {state}
        {hasKey && (
          <Kbd size="xs" ml={8}>
            {texts.resource.saveKey}
          </Kbd>
        )}
      </span>
    </>
  );
}

interface LeaveGuardProps {
  hasChanges: boolean;
  /** Whether a route shows the same resource. */
  staysOn(route: Route): boolean;
}

export function LeaveGuard({ hasChanges, staysOn }: LeaveGuardProps) {
  const [leave, setLeave] = useState<() => void>();
  useEffect(() => {
    if (!hasChanges) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    setGuard((next, go) => {
      if (staysOn(next)) return true;
      setLeave(() => go);
      return false;
    });
    return () => {
      removeEventListener("beforeunload", warn);
      setGuard(undefined);
    };
  }, [hasChanges, staysOn]);
  if (leave === undefined) return null;
  return (
    <Question
      title={texts.resource.leaveTitle}
      about={texts.resource.leaveAbout}
      action={texts.resource.discardAndLeave}
      isDangerous
      closing={texts.resource.keepEditing}
      run={async () => leave()}
      onClose={() => setLeave(undefined)}
    />
  );
}
