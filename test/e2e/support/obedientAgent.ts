/** An agent without idempotency keys that does what answers and errors tell it, whatever becomes of its calls. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { mcpHeaders, mcpMessage } from '../../../bench/load/client.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What became of a call. Nobody knows what a lost one has done. */
export type Outcome =
  | { readonly kind: 'answer'; readonly fields: Fields }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'lost' };

const toolResult = z.object({
  result: z.object({
    isError: z.boolean().optional(),
    structuredContent: z.record(z.string(), z.unknown()).optional(),
    content: z.array(z.object({ text: z.string() })),
  }),
});

const claimed = z.object({
  task: z.object({ id: z.string(), claim_epoch: z.number(), description: z.string() }).optional(),
});
export type ClaimedTask = NonNullable<z.output<typeof claimed>['task']>;

/** How to know what was made: by the answer, or where that was lost by looking for it. */
export interface Making<Made> {
  readonly read: (answer: Fields) => Made;
  readonly look: () => Promise<Made | undefined>;
}

const isToBeRepeated = (error: string): boolean => error.includes('Call again.');

const BETWEEN_LOOKS_MS = 50;

/** How often a call may be lost in a row before something else is wrong. */
const MOST_LOSSES = 50;

export class ObedientAgent {
  readonly id: string;
  /** How many calls were lost. */
  losses = 0;
  private readonly credential: string;
  private readonly urlOfNext: () => Promise<string>;

  constructor(id: string, credential: string, urlOfNext: () => Promise<string>) {
    this.id = id;
    this.credential = credential;
    this.urlOfNext = urlOfNext;
  }

  async tryOnce(tool: string, args: Fields): Promise<Outcome> {
    const body = mcpMessage('tools/call', { name: tool, arguments: args });
    const url = await this.urlOfNext();
    try {
      const response = await fetch(url, { method: 'POST', headers: mcpHeaders(this.credential), body });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const { isError, structuredContent = {}, content } = toolResult.parse(JSON.parse(text)).result;
      if (isError) return { kind: 'error', text: content.map((part) => part.text).join('\n') };
      return { kind: 'answer', fields: structuredContent };
    } catch (error) {
      if (error instanceof assert.AssertionError || error instanceof z.ZodError) throw error;
      this.losses++;
      return { kind: 'lost' };
    }
  }

  /** Calls again until there is an answer or an error: of what reads, or is harmless when it is repeated. */
  async insist(tool: string, args: Fields = {}): Promise<Exclude<Outcome, { kind: 'lost' }>> {
    for (let losses = 0; losses < MOST_LOSSES; losses++) {
      const outcome = await this.tryOnce(tool, args);
      if (outcome.kind === 'lost') continue;
      if (outcome.kind === 'error' && isToBeRepeated(outcome.text)) continue;
      return outcome;
    }
    throw new Error(`${tool} was lost ${MOST_LOSSES} times.`);
  }

  /** Calls again until there is an answer. An error fails the test. */
  async ask(tool: string, args: Fields = {}): Promise<Fields> {
    const outcome = await this.insist(tool, args);
    if (outcome.kind === 'error') throw new Error(`${tool}: ${outcome.text}`);
    return outcome.fields;
  }

  /** Makes something that a repetition would make twice: so after each loss it looks whether it is there. */
  async makeOnce<Made>(tool: string, args: Fields, { read, look }: Making<Made>): Promise<Made> {
    for (let losses = 0; losses < MOST_LOSSES; losses++) {
      const outcome = await this.tryOnce(tool, args);
      if (outcome.kind === 'answer') return read(outcome.fields);
      if (outcome.kind === 'error' && !isToBeRepeated(outcome.text))
        throw new Error(`${tool}: ${outcome.text}`);
      const made = await look();
      if (made !== undefined) return made;
    }
    throw new Error(`${tool} was lost ${MOST_LOSSES} times.`);
  }

  /** A claim that is repeated answers what an earlier one has claimed. */
  async claim(): Promise<ClaimedTask | undefined> {
    return claimed.parse(await this.ask('coordination.claim_task', { agent_id: this.id })).task;
  }

  /** A start that is repeated finds the task started, and is told to report its outcome. */
  async start({ id, claim_epoch }: ClaimedTask): Promise<void> {
    const args = { agent_id: this.id, task_id: id, claim_epoch };
    const outcome = await this.insist('coordination.start_task', args);
    if (outcome.kind === 'error') assert.match(outcome.text, /in_progress, held by you.*Report its outcome/s);
  }

  async complete({ id, claim_epoch }: ClaimedTask, output: string): Promise<void> {
    const report = { agent_id: this.id, task_id: id, claim_epoch, output };
    assert.equal((await this.ask('coordination.complete_task', report))['success'], true);
  }

  /** A report that is repeated finds that the task is no longer the agent's. */
  async failRetryably({ id, claim_epoch }: ClaimedTask, error: string): Promise<void> {
    const report = { agent_id: this.id, task_id: id, claim_epoch, error, retryable: true };
    const outcome = await this.insist('coordination.fail_task', report);
    if (outcome.kind === 'error') assert.match(outcome.text, /claim another task|Claim it first/);
  }

  pause(): Promise<void> {
    return delay(BETWEEN_LOOKS_MS);
  }
}
