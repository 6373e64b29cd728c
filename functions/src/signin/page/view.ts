/** View of the sign-in page: the visible section, its error text, and the focus. */
import type { Embedded } from './embedded.ts';

const SECTIONS = ['sign-in', 'standstill', 'choices', 'ended', 'done'] as const;
export type Section = (typeof SECTIONS)[number];
export type Problem = keyof Embedded['texts']['errors'];

/** Failure that is shown to the person with a text. */
export class Failure extends Error {
  readonly problem: Problem;
  /** Values that replace the placeholders of the text. */
  readonly values: Readonly<Record<string, string>>;

  constructor(trouble: Problem, values: Readonly<Record<string, string>> = {}) {
    super(trouble);
    this.problem = trouble;
    this.values = values;
  }
}

/** Returns an element of the server's HTML. @throws Error if it is missing */
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`Missing element: ${kind.name} #${id}.`);
  return found;
}

export class View {
  private section: Section | undefined;
  private busy = false;
  private focused: Element | null = null;
  /** Buttons that stay disabled when no action runs. */
  private readonly blocked = new Set<HTMLButtonElement>();
  private readonly waitText: string;

  constructor(waitText: string) {
    this.waitText = waitText;
  }

  get shown(): Section | undefined {
    return this.section;
  }

  get isBusy(): boolean {
    return this.busy;
  }

  /** Shows one section, hides the others, and moves the focus to its heading. */
  show(section: Section): void {
    this.showMessage('');
    this.section = section;
    for (const one of SECTIONS) element(one, HTMLElement).hidden = one !== section;
    element('identity', HTMLElement).hidden = section !== 'choices';
    this.focus(document.querySelector(`#${section} h2`));
  }

  showMessage(text: string): void {
    if (this.section === undefined) return;
    const error = document.getElementById(`${this.section}-error`);
    if (error === null) return;
    error.textContent = text;
    if (text !== '') error.scrollIntoView({ block: 'nearest' });
  }

  /** Disables all buttons while an action runs, then restores the focus. */
  setBusy(busy: boolean): void {
    if (busy) this.focused = document.activeElement;
    this.busy = busy;
    element('main', HTMLElement).ariaBusy = String(busy);
    element('progress', HTMLElement).textContent = busy ? this.waitText : '';
    this.updateButtons();
    if (!busy && document.activeElement === document.body) this.focus(this.focused);
  }

  setBlocked(button: HTMLButtonElement, blocked: boolean): void {
    if (blocked) this.blocked.add(button);
    else this.blocked.delete(button);
    this.updateButtons();
  }

  /** Focuses an element. A button can only receive the focus when no action runs. */
  focus(target: Element | null): void {
    if (!(target instanceof HTMLElement)) return;
    this.focused = target;
    target.focus({ preventScroll: target instanceof HTMLInputElement && this.section === 'sign-in' });
  }

  private updateButtons(): void {
    for (const button of document.querySelectorAll('button')) button.disabled = this.busy || this.blocked.has(button);
  }
}
