/** Elements and forms of the page. Faults that the service finds are shown at their fields. */
import { Refusal } from "./auth-service.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

/** Makes an element. Text is never read as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | boolean>> = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== false) made.setAttribute(key, value === true ? "" : value);
  made.append(...content);
  return made;
}

/** A field of a form. */
export interface Field {
  name: string;
  label: string;
  /** The type of its input. @default text */
  type?: "text" | "email" | "password" | "number" | "checkbox" | "date" | "url";
  /** What it can be, in place of an input. */
  options?: readonly string[];
  /** What a browser or a password manager can put in. @default nothing */
  autocomplete?: string;
  hint?: string;
  value?: string;
  isOptional?: boolean;
  /** Whether it is sent also if it is empty. @default false */
  isSentEmpty?: boolean;
  isReadOnly?: boolean;
}

/** A form of the page. */
export interface FormParts {
  fields: readonly Field[];
  submit: string;
  /** Gets what was filled in. Throws Refusal. */
  work(values: Readonly<Record<string, string | number | boolean>>): Promise<void>;
  /** The field for an attribute that the service needs, but the form does not have. @default none */
  fieldFor?: (name: string) => Field | undefined;
}

type Control = HTMLInputElement | HTMLSelectElement;

interface Row {
  field: Field;
  control: Control;
  fault: HTMLElement;
  whole: HTMLElement;
}

let lastId = 0;

function rowOf(field: Field): Row {
  const {
    name,
    label,
    type = "text",
    options,
    autocomplete = "off",
    hint,
    value,
    isOptional = false,
  } = field;
  const id = `field-${++lastId}`;
  const common = { id, name, autocomplete, "aria-required": String(!isOptional) };
  const control: Control =
    options === undefined
      ? element("input", { ...common, type, readonly: field.isReadOnly === true, ...inputHelp(field) })
      : element("select", common, ...["", ...options].map((each) => element("option", {}, each)));
  if (type === "checkbox") (control as HTMLInputElement).checked = value === "true";
  else if (value !== undefined) control.value = value;
  const fault = element("p", { id: `${id}-fault`, class: "fault" });
  const described = [`${id}-fault`];
  const parts: HTMLElement[] = [];
  if (hint !== undefined) {
    parts.push(element("p", { id: `${id}-hint`, class: "hint" }, hint));
    described.unshift(`${id}-hint`);
  }
  control.setAttribute("aria-describedby", described.join(" "));
  const shown = element("label", { for: id }, isOptional ? texts.optional(label) : label);
  const box =
    type === "password" ? element("div", { class: "secret" }, control, showButton(control)) : control;
  const whole = element(
    "div",
    { class: type === "checkbox" ? "field check" : "field" },
    shown,
    box,
    ...parts,
    fault,
  );
  return { field, control, fault, whole };
}

function inputHelp({ type, autocomplete }: Field): Record<string, string> {
  if (autocomplete === "one-time-code")
    return { autocapitalize: "characters", spellcheck: "false", class: "code", maxlength: "20" };
  if (type === "email") return { autocapitalize: "none", spellcheck: "false", inputmode: "email" };
  return type === "number" ? { step: "any" } : {};
}

/** Shows what was typed as a password. */
function showButton(control: Control): HTMLElement {
  const button = element("button", { type: "button", "aria-pressed": "false", class: "show" }, texts.show);
  button.addEventListener("click", () => {
    const isShown = control.getAttribute("type") === "text";
    control.setAttribute("type", isShown ? "password" : "text");
    button.setAttribute("aria-pressed", String(!isShown));
  });
  return button;
}

function filledIn({ field, control }: Row): string | number | boolean {
  if (field.type === "checkbox") return (control as HTMLInputElement).checked;
  return field.type === "number" && control.value !== "" ? Number(control.value) : control.value;
}

/** Makes a form. */
export function formOf({ fields, submit, work, fieldFor = () => undefined }: FormParts): HTMLFormElement {
  const rows = fields.map(rowOf);
  const summary = element("p", { role: "alert", class: "alert" });
  const button = element("button", { type: "submit", class: "main" }, submit);
  const form = element("form", { novalidate: true }, ...rows.map(({ whole }) => whole), summary, button);
  const refuse = (row: Row, detail: string) => {
    row.fault.textContent = detail;
    row.control.setAttribute("aria-invalid", "true");
  };
  const rowFor = (pointer: string): Row | undefined => {
    const name = decodeURIComponent(pointer.replace(/^#\//, ""));
    const found = rows.find(({ field }) => field.name === name);
    const added = found === undefined ? fieldFor(name) : undefined;
    if (added === undefined) return found;
    const row = rowOf(added);
    rows.push(row);
    summary.before(row.whole);
    return row;
  };
  const show = (error: unknown) => {
    const { message, violations } = error instanceof Refusal ? error : new Refusal(String(error));
    for (const { pointer, detail } of violations) {
      const row = pointer === undefined ? undefined : rowFor(pointer);
      if (row !== undefined) refuse(row, detail);
    }
    const faulty = rows.filter(({ control }) => control.hasAttribute("aria-invalid"));
    summary.textContent =
      faulty.length === violations.length && faulty.length > 0 ? texts.notFilledIn : message;
    (faulty[0] ?? rows.findLast(({ field }) => field.isReadOnly !== true))?.control.focus();
  };
  let isBusy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isBusy) return;
    summary.textContent = "";
    for (const { control, fault } of rows) {
      control.removeAttribute("aria-invalid");
      fault.textContent = "";
    }
    const empty = rows.filter((row) => row.field.isOptional !== true && filledIn(row) === "");
    for (const row of empty) refuse(row, texts.fillIn);
    if (empty[0] !== undefined) return empty[0].control.focus();
    const filled = rows.filter((row) => row.field.isSentEmpty || filledIn(row) !== "");
    isBusy = true;
    button.setAttribute("aria-busy", "true");
    try {
      await work(Object.fromEntries(filled.map((row) => [row.field.name, filledIn(row)])));
    } catch (error) {
      show(error);
    } finally {
      isBusy = false;
      button.removeAttribute("aria-busy");
    }
  });
  return form;
}

/** A button that does something at once. Its refusals go to `onRefusal`. */
export function buttonOf(
  text: string,
  work: () => Promise<void>,
  onRefusal: (message: string) => void,
  attributes: Readonly<Record<string, string>> = {},
): HTMLButtonElement {
  const button = element("button", { type: "button", ...attributes }, text);
  button.addEventListener("click", () => {
    work().catch((error: unknown) => onRefusal(error instanceof Error ? error.message : String(error)));
  });
  return button;
}
