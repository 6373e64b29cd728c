/** One response of a local model: whole or streamed, complete or interrupted. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Behavior } from './behavior.ts';
import type { Dialect, Question, Said } from './dialect.ts';

const PIECES = 3;

type Doing<Kind extends Behavior['does']> = Extract<Behavior, { does: Kind }>;

export class Reply {
  /** Whether the server has ended or interrupted the response. */
  over = false;
  private readonly dialect: Dialect;
  private readonly question: Question;
  private readonly response: ServerResponse;
  private readonly closed = new AbortController();

  constructor(dialect: Dialect, question: Question, response: ServerResponse) {
    this.dialect = dialect;
    this.question = question;
    this.response = response;
    response.once('close', () => this.closed.abort());
  }

  /** Waits until the time has passed or the client has disconnected. */
  private async pause(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await delay(milliseconds, undefined, this.closed).catch(() => undefined);
  }

  async perform(behavior: Behavior, standard: () => string): Promise<void> {
    if (this.closed.signal.aborted) return;
    switch (behavior.does) {
      case 'answer':
        return this.answer(behavior, standard);
      case 'error':
        return this.refuse(behavior);
      case 'hang':
        if (behavior.after !== undefined) await this.write(this.events(standard()).slice(0, behavior.after));
        return this.untilClosed();
      case 'break':
        return this.breakOff(behavior, standard());
      case 'hangUp':
        this.over = true;
        this.response.socket?.resetAndDestroy();
        return;
      case 'babble':
        return this.end(200, behavior.type ?? 'text/html', behavior.body);
      case 'redirect':
        return this.end(307, 'text/plain', '', { location: behavior.location });
    }
  }

  private async answer(behavior: Doing<'answer'>, standard: () => string): Promise<void> {
    await this.pause(behavior.afterMs ?? 0);
    if (this.closed.signal.aborted) return;
    const { end, thinks, usage = true, costUsd } = behavior;
    const output = { ...this.output(behavior.text ?? standard(), end, thinks), usage, costUsd };
    if (!this.question.streamed) return this.end(200, 'application/json', JSON.stringify(this.dialect.whole(output)));
    const events = this.dialect.events(output, inPieces(output.text, behavior.pieces ?? PIECES));
    await this.write(events, behavior.betweenMs);
    this.over = true;
    this.response.end();
  }

  private refuse({ status, body, headers }: Doing<'error'>): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? this.dialect.error(status));
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    this.end(status, type, text, headers);
  }

  private async breakOff({ after, how, text: own }: Doing<'break'>, text: string): Promise<void> {
    await this.write(this.events(own ?? text).slice(0, after));
    this.over = true;
    // Sends the written data before closing. A reset could arrive before the data.
    if (how === 'loss') this.response.socket?.destroySoon();
    else this.response.end(how === 'error' ? this.dialect.errorEvent() : undefined);
  }

  private events(text: string): readonly string[] {
    return this.dialect.events(this.output(text), inPieces(text, PIECES));
  }

  private output(text: string, ending: Said['ending'] = 'complete', thinking = ''): Said {
    return { question: this.question, text: ending === 'refusal' ? '' : text, thinking, ending, usage: true };
  }

  private async write(events: readonly string[], betweenMs = 0): Promise<void> {
    this.response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.response.flushHeaders();
    for (const event of events) {
      if (this.closed.signal.aborted) return;
      this.response.write(event);
      await this.pause(betweenMs);
    }
  }

  private end(status: number, type: string, body: string, headers: Readonly<Record<string, string>> = {}): void {
    this.over = true;
    this.response.writeHead(status, { 'content-type': type, ...headers }).end(body);
  }

  private async untilClosed(): Promise<void> {
    if (!this.closed.signal.aborted) await once(this.response, 'close');
  }
}

/** Splits a text into at most this many pieces. No piece is empty, unless the text is empty. */
function inPieces(text: string, pieces: number): readonly string[] {
  const size = Math.max(1, Math.ceil(text.length / pieces));
  const cut = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
  return cut.length === 0 ? [''] : cut;
}
