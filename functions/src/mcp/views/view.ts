/** Lifecycle of a view: draws the tool's response, refreshes it while work continues, and calls tools. */
import { boundedText, button, type Child, make, show } from './elements.ts';
import { type Fields, fieldsOf, Host, HostError, isFields, METHOD_NOT_FOUND, textOf } from './host.ts';

/** Milliseconds between refreshes, and number of consecutive failures after which they end. */
const PAUSE_MS = 5000;
const MAX_FAILURES = 3;

/** Maximum number of automatic refreshes, enough for an hour of a visible view. Then only the person can refresh. */
const MAX_ASKED = 720;

export interface View {
  readonly toolset: string;
  /** Name of the tool whose response is drawn, without the toolset. */
  readonly tool: string;
  draw(answer: Fields, person: ViewActions): readonly Child[];
  /** Returns whether the response may soon change, so that the view must be refreshed. */
  isOpen(answer: Fields): boolean;
  /** Returns the arguments with which the tool is called for a refresh. Default: those of the first call. */
  refreshArguments?(toolArguments: Fields): Fields;
}

export interface ViewActions {
  /** Whether the host allows the view to call tools. */
  readonly mayAct: boolean;
  readonly isBusy: boolean;
  /** Calls a tool of the view's toolset. `done` reports the action to the model, in the past tense. */
  act(tool: string, toolArguments: Fields, done: string): void;
  /** Returns a button that asks the person to confirm. For actions that cannot be undone. */
  confirmed(text: string, question: string, act: () => void): Child;
  /** Returns a link to an https address, or plain text if the host opens no links. */
  link(text: string, address: string): Child;
  /** Returns a time in the person's language and time zone. */
  time(instant: unknown): string;
}

export function startView(view: View): void {
  new ViewLifecycle(view).begin();
}

class ViewLifecycle {
  private readonly view: View;
  private readonly host: Host;
  private readonly place = make('div');
  private readonly foot = make('footer');
  private readonly notice = make('p.notice');
  private toolArguments: Fields = {};
  private answer: Fields | undefined;
  private asOf = '';
  private isVisible = false;
  private isBusy = false;
  private isRefused = false;
  private isEnded = false;
  private failures = 0;
  private asked = 0;
  /** The action that the person is asked to confirm, if any. */
  private question: string | undefined;
  private readonly done: string[] = [];
  private timer = 0;

  constructor(view: View) {
    this.view = view;
    this.host = new Host({
      adapted: () => this.draw(),
      called: (toolArguments) => {
        this.toolArguments = toolArguments;
      },
      answered: (result) => this.take(result),
      cancelled: () => this.showNotice('The call was cancelled.'),
      ended: () => {
        this.isEnded = true;
        clearTimeout(this.timer);
      },
    });
  }

  begin(): void {
    this.notice.setAttribute('role', 'status');
    document.querySelector('main')?.append(this.place, this.notice, this.foot);
    new IntersectionObserver(([entry]) => {
      this.isVisible = entry?.isIntersecting === true;
      this.schedule();
    }).observe(document.documentElement);
    document.addEventListener('visibilitychange', () => this.schedule());
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && this.question !== undefined) this.ask(undefined);
    });
    this.host.connect(this.view.tool).catch((error: unknown) => this.showNotice(String(error)));
  }

  /** Draws the result of a call, or shows its error. */
  private take({ structuredContent, content, isError }: Fields): void {
    const [first] = Array.isArray(content) ? content : [];
    const text = textOf(fieldsOf(first)['text']);
    if (isError === true) {
      this.showNotice(problemIn(structuredContent) ?? problemIn(parsed(text)) ?? text);
      return;
    }
    this.showNotice('');
    this.asOf = new Date().toISOString();
    if (isFields(structuredContent)) this.answer = structuredContent;
    else if (this.answer === undefined) show(this.place, [make('pre', boundedText(text, 4000))]);
    this.draw();
    this.schedule();
  }

  private draw(): void {
    if (this.answer === undefined) return;
    show(this.place, this.view.draw(this.answer, this.person()));
    const refresh = button('Refresh', { key: 'refresh', disabled: this.isBusy }, () => void this.refresh());
    const isLive = this.mayAsk() && this.view.isOpen(this.answer);
    const when = `${isLive ? 'Live, as' : 'As'} of ${this.time(this.asOf)}`;
    show(this.foot, [when, this.mayCall() && !isLive && refresh]);
  }

  private showNotice(text: string): void {
    this.notice.replaceChildren(...(text === '' ? [] : [boundedText(text, 400)]));
  }

  private mayCall(): boolean {
    return this.host.capabilities['serverTools'] !== undefined && !this.isRefused && !this.isEnded;
  }

  /** Returns whether the view may still refresh automatically. */
  private mayAsk(): boolean {
    return this.mayCall() && this.failures < MAX_FAILURES && this.asked < MAX_ASKED;
  }

  /** Schedules the next refresh if the response may soon change and the view is visible. */
  private schedule(): void {
    clearTimeout(this.timer);
    const { answer } = this;
    if (answer === undefined || !this.view.isOpen(answer) || !this.mayAsk()) return;
    if (!this.isVisible || document.hidden) return;
    this.timer = setTimeout(() => {
      this.asked += 1;
      void this.refresh();
    }, PAUSE_MS);
  }

  private async refresh(): Promise<void> {
    const { tool, refreshArguments: refreshMs = (same: Fields) => same } = this.view;
    const result = await this.call(tool, refreshMs(this.toolArguments));
    this.failures = result === undefined || result['isError'] === true ? this.failures + 1 : 0;
    if (result !== undefined) this.take(result);
    this.draw();
    this.schedule();
  }

  /** Calls a tool; returns undefined on failure. If the host allows no calls, the view makes no further calls. */
  private async call(tool: string, toolArguments: Fields): Promise<Fields | undefined> {
    try {
      return await this.host.request('tools/call', { name: this.nameOf(tool), arguments: toolArguments });
    } catch (error) {
      this.isRefused ||= error instanceof HostError && error.code === METHOD_NOT_FOUND;
      const why = error instanceof Error ? error.message : String(error);
      this.showNotice(this.isRefused ? 'This app does not allow views to call Muster. Use the chat instead.' : why);
      return undefined;
    }
  }

  /** Returns the name of another tool with the prefix that the host uses for the view's tool. */
  private nameOf(tool: string): string {
    const { toolset, tool: own } = this.view;
    const called = textOf(fieldsOf(fieldsOf(this.host.context['toolInfo'])['tool'])['name']);
    const prefix = called.endsWith(own) ? called.slice(0, -own.length) : `${toolset}_`;
    return `${prefix}${tool}`;
  }

  private async act(tool: string, toolArguments: Fields, done: string): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.question = undefined;
    this.draw();
    const result = await this.call(tool, { ...toolArguments, idempotency_key: newKey() });
    this.isBusy = false;
    if (result === undefined) return this.draw();
    if (result['isError'] === true) {
      this.take(result);
      return this.draw();
    }
    this.sendToModel(done);
    await this.refresh();
    this.showNotice(textOf(fieldsOf(result['structuredContent'])['message']));
  }

  /** Reports the person's actions to the model. Each report replaces the previous one, so it lists all actions. */
  private sendToModel(done: string): void {
    const takes = this.host.capabilities['updateModelContext'];
    if (!isFields(takes)) return;
    this.done.push(done);
    const text = `In the Muster view, the person has: ${this.done.slice(-20).join('; ')}.`;
    // If the host rejects the update, the model can still read the state itself.
    this.host.request('ui/update-model-context', { content: [{ type: 'text', text }] }).catch(() => undefined);
  }

  private ask(question: string | undefined): void {
    this.question = question;
    this.draw();
  }

  private time(instant: unknown): string {
    const date = new Date(textOf(instant));
    if (Number.isNaN(date.getTime())) return '';
    const { locale, timeZone } = this.host.context;
    const isToday = date.toDateString() === new Date().toDateString();
    const style: Intl.DateTimeFormatOptions = isToday
      ? { timeStyle: 'medium' }
      : { dateStyle: 'medium', timeStyle: 'short' };
    try {
      const place = typeof timeZone === 'string' ? { timeZone } : {};
      return new Intl.DateTimeFormat(textOf(locale) || undefined, { ...style, ...place }).format(date);
    } catch {
      return new Intl.DateTimeFormat(undefined, style).format(date); // The locale or time zone is not supported.
    }
  }

  private person(): ViewActions {
    const { isBusy } = this;
    return {
      mayAct: this.mayCall(),
      isBusy,
      act: (...call) => void this.act(...call),
      confirmed: (text, question, act) => {
        if (!this.mayCall()) return undefined;
        if (this.question !== question) return button(text, { key: text, disabled: isBusy }, () => this.ask(question));
        const yes = button('Yes', { key: text, label: `Yes: ${text}` }, act);
        const no = button('No', { key: 'no' }, () => this.ask(undefined));
        return make('p.question', `${question} `, yes, ' ', no);
      },
      link: (text, address) => {
        const isSafe = URL.canParse(address) && new URL(address).protocol === 'https:';
        if (this.host.capabilities['openLinks'] === undefined || !isSafe) return boundedText(text);
        const open = () => void this.host.request('ui/open-link', { url: address }).catch(() => undefined);
        return button(`${text} (${new URL(address).host})`, { key: address }, open);
      },
      time: (instant) => this.time(instant),
    };
  }
}

/** Returns the error message in a response, in the error format of any toolset. */
function problemIn(value: unknown): string | undefined {
  const { error, message } = fieldsOf(value);
  return [error, fieldsOf(error)['message'], message].map(textOf).find((text) => text !== '');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns an idempotency key, so that a call that is sent twice takes effect once. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join('-');
}
