/** Lifecycle of a view: draws the tool's response, refreshes it while work continues, and calls tools. */
import { type ComponentChildren, render } from 'preact';
import { views as text } from '../../text/views.ts';
import { fill } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import { type Fields, fieldsOf, Host, HostError, isFields, METHOD_NOT_FOUND, textOf } from './host.ts';
import { Words } from './parts.tsx';

const INSTANT = /\b\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Milliseconds between refreshes, and number of consecutive failures after which they end. */
const PAUSE_MS = 5000;
const MAX_FAILURES = 3;

/** Maximum number of automatic refreshes, enough for an hour of a visible view. Then only the person can refresh. */
const MAX_ASKED = 720;

export interface View {
  readonly toolset: string;
  /** Name of the tool whose response is drawn, without the toolset. */
  readonly tool: string;
  draw(answer: Fields, person: ViewActions): ComponentChildren;
  /** Returns whether the response may soon change, so that the view must be refreshed. */
  isOpen(answer: Fields): boolean;
  /** Returns the arguments with which the tool is called for a refresh. Default: those of the first call. */
  refreshArguments?(toolArguments: Fields): Fields;
}

export interface ViewActions {
  /** Whether the host allows the view to call tools. */
  readonly mayAct: boolean;
  readonly isBusy: boolean;
  /** Whether the view can also call tools of other toolsets, because the connection has more than the view's own. */
  readonly reachesOthers: boolean;
  /** Calls a tool of the view's toolset, or `toolset.tool`. `done` reports the action to the model, in the past tense. */
  act(tool: string, toolArguments: Fields, done: string): void;
  /** Returns a button that asks the person to confirm. For actions that cannot be undone. */
  confirmed(action: Confirmation): ComponentChildren;
  /** Returns a link to an https address, or plain text if the host opens no links. */
  link(words: string, address: string): ComponentChildren;
  /** Returns a time in the person's language and time zone. */
  time(instant: unknown): string;
  /** Returns a text of the server with its times in the person's language and time zone. */
  localized(words: string): string;
}

interface Confirmation {
  readonly label: string;
  readonly question: string;
  /** Label of the button that changes nothing. */
  readonly keep: string;
  /** Label of a text that the person must write. */
  readonly words?: string;
  /** @param words empty if none are asked for */
  act(words: string): void;
}

interface Notice {
  readonly text: string;
  readonly isError: boolean;
}

/** Shows a view in the page of which it is the only script. */
export function startView(view: View): void {
  new ViewLifecycle(view).begin();
}

class ViewLifecycle {
  private readonly view: View;
  private readonly host: Host;
  private toolArguments: Fields = {};
  private answer: Fields | undefined;
  /** Text of a response that the host forwarded without its structured content. */
  private plain = '';
  private notice: Notice = { text: '', isError: false };
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
      cancelled: () => this.showNotice(text.callCancelled),
      ended: () => {
        this.isEnded = true;
        clearTimeout(this.timer);
      },
    });
  }

  begin(): void {
    this.draw();
    new IntersectionObserver(([entry]) => {
      this.isVisible = entry?.isIntersecting === true;
      this.schedule();
    }).observe(document.documentElement);
    document.addEventListener('visibilitychange', () => this.schedule());
    document.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape' && this.question !== undefined) this.ask(undefined);
    });
    this.host.connect(this.view.tool).catch((error: unknown) => this.showNotice(String(error), true));
  }

  /** Draws the result of a call, or shows its error. */
  private take({ structuredContent, content, isError }: Fields): void {
    const [first] = Array.isArray(content) ? content : [];
    const words = textOf(fieldsOf(first)['text']);
    if (isError === true) {
      this.showNotice(problemIn(structuredContent) ?? problemIn(parsed(words)) ?? words, true);
      return;
    }
    this.asOf = new Date().toISOString();
    if (isFields(structuredContent)) this.answer = structuredContent;
    else if (this.answer === undefined) this.plain = words;
    this.showNotice('');
    this.schedule();
  }

  private draw(): void {
    const main = document.querySelector('main');
    if (main !== null) render(this.page(), main);
  }

  private page(): ComponentChildren {
    const { answer, plain, notice } = this;
    return (
      <>
        {answer !== undefined && this.view.draw(answer, this.person())}
        {answer === undefined && plain !== '' && (
          <pre class="block">
            <Words text={plain} max={4000} />
          </pre>
        )}
        <div role="status">
          {notice.text !== '' && (
            <p class={notice.isError ? 'notice bad' : 'notice'}>
              <Icon of={notice.isError ? 'warn' : 'check'} />
              <Words text={notice.text} max={400} />
            </p>
          )}
        </div>
        {answer !== undefined && this.foot(answer)}
      </>
    );
  }

  private foot(answer: Fields): ComponentChildren {
    const isLive = this.mayAsk() && this.view.isOpen(answer);
    return (
      <footer class="line hint">
        {isLive && <span class="tag busy">{text.live}</span>}
        <span>{fill(text.updated, { time: this.time(this.asOf) })}</span>
        {this.mayCall() && !isLive && (
          <button
            type="button"
            class="b quiet small push"
            aria-disabled={this.isBusy}
            onClick={() => void (this.isBusy || this.refresh())}>
            <Icon of="retry" small />
            {text.refresh}
          </button>
        )}
      </footer>
    );
  }

  private showNotice(words: string, isError = false): void {
    this.notice = { text: words, isError };
    this.draw();
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
    const { tool, refreshArguments = (same: Fields) => same } = this.view;
    const result = await this.call(tool, refreshArguments(this.toolArguments));
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
      this.showNotice(this.isRefused ? text.notAllowed : why, true);
      return undefined;
    }
  }

  /** Returns the name of another tool with the prefix that the host uses for the view's tool. */
  private nameOf(tool: string): string {
    const [name = '', toolset = this.view.toolset] = tool.split('.').reverse();
    const prefix = this.prefix();
    const own = `${this.view.toolset}_`;
    return `${prefix.endsWith(own) ? `${prefix.slice(0, -own.length)}${toolset}_` : prefix}${name}`;
  }

  private prefix(): string {
    const { toolset, tool: own } = this.view;
    const called = textOf(fieldsOf(fieldsOf(this.host.context['toolInfo'])['tool'])['name']);
    return called.endsWith(own) ? called.slice(0, -own.length) : `${toolset}_`;
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
    const report = `In the Muster view, the person has: ${this.done.slice(-20).join('; ')}.`;
    // If the host rejects the update, the model can still read the state itself.
    this.host.request('ui/update-model-context', { content: [{ type: 'text', text: report }] }).catch(() => undefined);
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
    return {
      mayAct: this.mayCall(),
      isBusy: this.isBusy,
      // If the connection has one toolset, its tools have no prefix.
      reachesOthers: this.prefix().endsWith(`${this.view.toolset}_`),
      act: (...call) => void this.act(...call),
      confirmed: (action) => this.mayCall() && this.confirmed(action),
      link: (words, address) => {
        const isSafe = URL.canParse(address) && new URL(address).protocol === 'https:';
        if (this.host.capabilities['openLinks'] === undefined || !isSafe) return <Words text={words} />;
        const open = () => void this.host.request('ui/open-link', { url: address }).catch(() => undefined);
        return (
          <button type="button" class="b small" onClick={open}>
            <Icon of="out" small />
            {fill(text.host, { text: words, host: new URL(address).host })}
          </button>
        );
      },
      time: (instant) => this.time(instant),
      localized: (words) => words.replace(INSTANT, (instant) => this.time(instant)),
    };
  }

  /** Returns one button that first asks and then confirms, so that the button keeps the focus. */
  private confirmed({ label, question, keep, words, act }: Confirmation): ComponentChildren {
    const isAsking = this.question === question;
    const confirm = (button: HTMLElement) => {
      const field = button.closest('.question')?.querySelector('textarea');
      if (field?.value.trim() === '') field.focus();
      else act(field?.value.trim() ?? '');
    };
    return (
      <div class={isAsking ? 'notice wait question' : 'question'}>
        {isAsking && <p id="question">{question}</p>}
        {isAsking && words !== undefined && <textarea class="input" aria-label={words} placeholder={words} rows={3} />}
        <div class="acts">
          {isAsking && (
            <button
              key="keep"
              type="button"
              class="b small"
              onClick={({ currentTarget: { nextElementSibling: asking } }) => {
                this.ask(undefined);
                if (asking instanceof HTMLElement) asking.focus();
              }}>
              {keep}
            </button>
          )}
          <button
            key="act"
            type="button"
            class={isAsking ? 'b small danger' : 'b small'}
            aria-disabled={this.isBusy}
            aria-describedby={isAsking ? 'question' : undefined}
            onClick={({ currentTarget }) => (isAsking ? confirm(currentTarget) : this.ask(question))}>
            {label}
          </button>
        </div>
      </div>
    );
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
