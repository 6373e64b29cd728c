/** What is on the screen: one section at a time, what is told in it, and where the focus is. */
import type { Embedded } from './embedded.ts';

const SECTIONS = ['sign-in', 'standstill', 'choices', 'ended', 'done'] as const;

export type Section = (typeof SECTIONS)[number];

export type Trouble = keyof Embedded['texts']['errors'];

/** What a person is told instead of what they asked for. */
export class Failure extends Error {
  readonly trouble: Trouble;
  /** What fills the text's braces. */
  readonly values: Readonly<Record<string, string>>;

  constructor(trouble: Trouble, values: Readonly<Record<string, string>> = {}) {
    super(trouble);
    this.trouble = trouble;
    this.values = values;
  }
}

/** An element that the server has written. */
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${kind.name} #${id}.`);
  return found;
}

export class View {
  private section: Section | undefined;
  private busy = false;
  private focused: Element | null = null;
  /** Buttons that make no sense now, whether or not something is under way. */
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

  /** Shows one section instead of the others, and has the reader begin at its heading. */
  show(section: Section): void {
    this.tell('');
    this.section = section;
    for (const one of SECTIONS) element(one, HTMLElement).hidden = one !== section;
    this.focus(document.querySelector(`#${section} h2`));
  }

  /** Tells in the section that is shown what went wrong. */
  tell(text: string): void {
    if (this.section === undefined) return;
    const error = document.getElementById(`${this.section}-error`);
    if (error === null) return;
    error.textContent = text;
    if (text !== '') error.scrollIntoView({ block: 'nearest' });
  }

  /** Nothing can be pressed while something is under way; after it, the focus is where it was. */
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

  /** Where the person has to act. A button takes the focus only when nothing is under way any more. */
  focus(target: Element | null): void {
    if (!(target instanceof HTMLElement)) return;
    this.focused = target;
    target.focus({ preventScroll: target instanceof HTMLInputElement && this.section === 'sign-in' });
  }

  private updateButtons(): void {
    for (const button of document.querySelectorAll('button')) {
      button.disabled = this.busy || this.blocked.has(button);
    }
  }
}
