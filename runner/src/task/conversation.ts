/** Passes the messages of other agents to an attempt's coding agent, and reports which ones it has heard. */
import type { Said } from '../agents/agent.ts';
import type { Message } from '../hub/hub.ts';
import type { TaskLog } from './log.ts';

export interface ConversationOptions {
  readonly log: TaskLog;
  /** Returns a message in the form in which the agent gets it. */
  readonly frame: (message: Message) => string;
  /** Ids of messages about no task that an attempt of this runner has. Each of them is for one attempt only. */
  readonly taken: Set<string>;
}

export class Conversation {
  private readonly options: ConversationOptions;
  /** Messages of this attempt by id. The hub repeats a message until it is reported as heard. */
  private readonly messages = new Map<string, Message>();
  private readonly inPrompt: readonly Message[];
  private readonly unheard = new Set<string>();
  /** Messages that arrived before the agent could receive them. */
  private early: Message[] = [];
  private say: ((message: Said) => boolean) | undefined;

  /** @param inPrompt messages that the prompt contains */
  constructor(inPrompt: readonly Message[], options: ConversationOptions) {
    this.options = options;
    this.inPrompt = inPrompt;
    for (const message of inPrompt) this.messages.set(message.id, message);
    for (const { id } of inPrompt) options.taken.add(id);
  }

  /** Takes messages that the hub has sent, and ignores those that it has sent before. */
  receive(messages: readonly Message[]): void {
    for (const message of messages) {
      if (this.messages.has(message.id) || !this.take(message)) continue;
      this.messages.set(message.id, message);
      const text = `A message from ${message.from} has arrived.`;
      this.options.log.add('system', text, { level: 'debug', prefix: 'runner' });
      if (this.say === undefined) this.early.push(message);
      else this.pass(message);
    }
  }

  /** @param say sends a message to the agent; returns false if the agent's work has ended */
  attach(say: (message: Said) => boolean): void {
    this.say = say;
    const { early } = this;
    this.early = [];
    for (const message of early) this.pass(message);
  }

  /** Stops passing messages. The others stay unread at the hub, and are for other attempts. */
  detach(): void {
    this.say = () => false;
    for (const id of this.unheard) this.options.taken.delete(id);
  }

  promptHeard(): void {
    this.report(this.inPrompt);
  }

  heard(id: string): void {
    const message = this.messages.get(id);
    if (message !== undefined) this.report([message]);
  }

  private take({ id, task_id: about }: Message): boolean {
    const { taken } = this.options;
    if (about === undefined && taken.has(id)) return false;
    if (about === undefined) taken.add(id);
    this.unheard.add(id);
    return true;
  }

  private pass(message: Message): void {
    this.say?.({ id: message.id, text: this.options.frame(message) });
  }

  /** The outbox reports a message as heard together with its log entry, so that neither is stored without the other. */
  private report(messages: readonly Message[]): void {
    for (const { id, from, text, at } of messages) {
      this.unheard.delete(id);
      this.options.log.add('message', text, { prefix: from, data: { message_id: id, sent_at: at } });
    }
  }
}
