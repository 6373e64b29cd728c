/**
 * Messages to agents. A mailbox stores the messages to an agent. The agent's calls return them until the agent
 * confirms them. If an agent has no messages, its mailbox is not read. Source: docs/semantics.md#task-actions.
 */
import { type Agent, isIn } from '../../../agents/rules/agent.ts';
import type { ActingAgent } from '../../../agents/rules/liveness.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError, notFound } from '../../../kernel/errors.ts';
import { readFor, readUnreadable, Service } from '../../../kernel/ports.ts';
import { CODING_AGENT } from './codingTask.ts';
import type { Mailbox, Message, MessageChanges } from './mailbox.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { HEARINGS, type Hearing, isClosed, type Task, taskNotFound } from './task.ts';

const MAX_UNREAD = 20;

/** Maximum number of held tasks that are read to find out how a runner's coding agents hear a message. */
const MAX_HELD_READ = 20;

/** When the coding agents of a runner hear a message: while they work, or with the next claim. */
export const AT_WORK = [...HEARINGS, 'next_claim'] as const;

export interface SentMessage extends Message {
  /** Undefined if the agent is not a runner, and thus gets messages with its own calls. */
  readonly at_work?: Hearing | 'next_claim' | undefined;
}

/** A task for which a runner receives messages, and what it has received so far. */
export interface MessageReceipt {
  readonly workspace: string;
  readonly taskId: string;
  /** Id of the last message that the runner received for this task. */
  readonly receivedUntil?: string | undefined;
  /** Ids of messages that the coding agent has acknowledged. */
  readonly heard?: readonly string[] | undefined;
  /** Whether a watch has found a message, which an instance may not know from the agent's credential yet. */
  readonly isThere?: boolean;
}

/** Returns whether a message to a runner's agent is for the coding agent that works on the task. */
export function isForTask({ task_id }: Pick<Message, 'task_id'>, taskId: string): boolean {
  return task_id === undefined || task_id === taskId;
}

interface MessageDraft {
  readonly workspace: string;
  readonly agentId: string;
  readonly text: string;
  readonly taskId?: string | undefined;
}

export class AgentMessages extends Service<CoordinationPorts> {
  /** @throws MusterError NOT_FOUND for an unknown agent or task; QUOTA_EXCEEDED for too many unread messages */
  send(principal: Principal, letter: MessageDraft, recordResponse: RecordResponse<SentMessage>): Promise<SentMessage> {
    const { agents, clock, mailboxes, randomness, store } = this.ports;
    const { workspace, agentId, taskId, text } = letter;
    return retryOnConflict(randomness, async () => {
      const [agent, found] = await Promise.all([
        readFor(principal.owner_uid, agents.find(agentId)),
        mailboxes.find(agentId),
      ]);
      if (agent === undefined || !isIn(agent.value, workspace)) throw agentNotFound(agentId, 'agent_id');
      const task = taskId === undefined ? undefined : await this.requireTask(workspace, taskId);
      const { messages, count } = found?.value ?? { messages: [], count: 0 };
      const waiting = await this.withRoom(messages, workspace, agentId);
      const at_work = await this.hearingOf(agent.value, task);
      const at = clock.now();
      const message: Message = {
        id: messageId(count + 1),
        from: principal.agent_id ?? principal.uid,
        workspace,
        text,
        at,
        ...(taskId !== undefined && { task_id: taskId }),
      };
      const mailbox = { id: agentId, messages: [...waiting, message], count: count + 1 };
      const changes = mailboxChanges(mailbox, found, { sent: message });
      const sent = { ...message, at_work };
      await store.commit(changes, recordResponse(sent));
      return sent;
    });
  }

  /** Returns the messages. If the mailbox is full, omits those about closed coding tasks. @throws QUOTA_EXCEEDED */
  private async withRoom(all: readonly Message[], workspace: string, agentId: string): Promise<readonly Message[]> {
    const isFull = (some: readonly Message[]) => some.filter((one) => one.workspace === workspace).length >= MAX_UNREAD;
    if (!isFull(all)) return all;
    const tasks = await this.tasksOf([...new Set(all.flatMap(({ task_id }) => task_id ?? []))]);
    const closed = tasks.filter(({ coding, status }) => coding !== undefined && isClosed(status)).map(({ id }) => id);
    const left = all.filter(({ task_id }) => task_id === undefined || !closed.includes(task_id));
    if (isFull(left)) throw mailboxFull(agentId);
    return left;
  }

  /** @param task the task that the message is about; without it, each task that the agent holds can get the message */
  private async hearingOf(agent: Agent, task: Task | undefined): Promise<SentMessage['at_work']> {
    if (!agent.capability_details.some(({ category }) => category === CODING_AGENT)) return undefined;
    const tasks = task ? [task] : await this.tasksOf(Object.keys(agent.held).slice(0, MAX_HELD_READ));
    const hearings = tasks
      .filter(({ status, claim }) => status === 'in_progress' && claim?.claimed_by === agent.id)
      .map(({ claim }) => claim?.hearing);
    return HEARINGS.find((hearing) => hearings.includes(hearing)) ?? 'next_claim';
  }

  /** Returns the agent's unread messages from a workspace, oldest first, if the caller may read them. */
  async unread({ id, has_messages, readsMessages }: ActingAgent, workspace: string): Promise<readonly Message[]> {
    if (!has_messages || !readsMessages) return [];
    const found = await this.ports.mailboxes.find(id);
    return found?.value.messages.filter((one) => one.workspace === workspace) ?? [];
  }

  /**
   * Returns the unread messages for the coding agent that works on a task, and the changes that confirm those that it
   * has heard. If the agent has no messages and none was heard, the mailbox is not read.
   * @throws MusterError FORBIDDEN if the caller cannot read the messages
   */
  async receive(
    { id, has_messages, readsMessages }: ActingAgent,
    { workspace, taskId, receivedUntil = '', heard = [], isThere }: MessageReceipt,
  ): Promise<{ readonly unread: readonly Message[]; readonly changes: readonly CoordinationChange[] }> {
    if (heard.length > 0 && !readsMessages) throw notYourMessages(id, 'heard');
    if (!readsMessages || (heard.length === 0 && !has_messages && !isThere)) return { unread: [], changes: [] };
    const found = await this.ports.mailboxes.find(id);
    const own = found?.value.messages.filter((one) => one.workspace === workspace && isForTask(one, taskId)) ?? [];
    const read = own.filter((one) => heard.includes(one.id));
    const unread = own.filter((one) => one.id > receivedUntil && !read.includes(one));
    return { unread, changes: confirmation(found, read) };
  }

  /**
   * Deletes the messages that an agent has read in a workspace.
   * @returns the messages that are still unread
   * @throws MusterError FORBIDDEN if the caller cannot read the messages
   */
  async markRead(
    { id: agentId, readsMessages }: Pick<ActingAgent, 'id' | 'readsMessages'>,
    workspace: string,
    isRead: (message: Message) => boolean,
    recordResponse: RecordResponse<readonly Message[]>,
  ): Promise<readonly Message[]> {
    if (!readsMessages) throw notYourMessages(agentId, 'read_until');
    const { mailboxes, randomness, store } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await mailboxes.find(agentId);
      const here = found?.value.messages.filter((one) => one.workspace === workspace) ?? [];
      const read = here.filter(isRead);
      const left = here.filter((one) => !read.includes(one));
      await store.commit(confirmation(found, read), recordResponse(left));
      return left;
    });
  }

  private async tasksOf(ids: readonly string[]): Promise<readonly Task[]> {
    return (await this.ports.tasks.findAll(ids)).flatMap((found) => found?.value ?? []);
  }

  private async requireTask(workspace: string, taskId: string): Promise<Task> {
    const task = await readUnreadable((one) => one === workspace, this.ports.tasks.find(taskId));
    if (task?.value.workspace !== workspace) throw taskNotFound(taskId);
    return task.value;
  }
}

/** Message that Muster itself sends to the holder of a task. */
export interface Notice {
  readonly agentId: string;
  readonly taskId: string;
  readonly text: string;
}

/** Returns the changes that send notices. A full mailbox gets none. */
export async function noticeChanges(
  { mailboxes, clock }: Pick<CoordinationPorts, 'mailboxes' | 'clock'>,
  workspace: string,
  notices: readonly Notice[],
): Promise<readonly CoordinationChange[]> {
  const changes: CoordinationChange[] = [];
  for (const agentId of new Set(notices.map((one) => one.agentId))) {
    const own = notices.filter((one) => one.agentId === agentId);
    const found = await mailboxes.find(agentId);
    const { messages, count } = found?.value ?? { messages: [], count: 0 };
    const room = MAX_UNREAD - messages.filter((one) => one.workspace === workspace).length;
    const noticed = own.slice(0, Math.max(0, room)).map(({ taskId, text }, index): Message => {
      return { id: messageId(count + index + 1), from: 'muster', workspace, text, at: clock.now(), task_id: taskId };
    });
    if (noticed.length === 0) continue;
    const mailbox = { id: agentId, messages: [...messages, ...noticed], count: count + noticed.length };
    changes.push(...mailboxChanges(mailbox, found, { noticed }));
  }
  return changes;
}

/** Returns the id of an agent's message. Ids are unique per agent, and sort in the order of sending. */
function messageId(count: number): string {
  return `message-${String(count).padStart(9, '0')}`;
}

/** Returns the changes that remove read messages from their mailbox. */
function confirmation(found: Versioned<Mailbox> | undefined, read: readonly Message[]): CoordinationChange[] {
  if (found === undefined || read.length === 0) return [];
  const messages = found.value.messages.filter((one) => !read.includes(one));
  return mailboxChanges({ ...found.value, messages }, found, { read });
}

function mailboxChanges(
  mailbox: Mailbox,
  found: Versioned<Mailbox> | undefined,
  moved: Pick<MessageChanges['replaceMailbox'], 'sent' | 'noticed' | 'read'>,
): CoordinationChange[] {
  const { id: agentId, messages } = mailbox;
  return [
    { kind: 'replaceMailbox', mailbox, ...(found && { version: found.version }), ...moved },
    { kind: 'setHasMessages', agentId, has_messages: messages.length > 0 },
  ];
}

/** Returns the error for an agent that is not in the workspace. @param field the argument with the id */
export function agentNotFound(agentId: string, field: 'agent_id' | 'agentId'): MusterError {
  const suggestion = 'system.getAgents lists the agents of this workspace.';
  return notFound('Agent', { [field]: agentId }, suggestion, ' in this workspace');
}

function notYourMessages(agentId: string, field: 'read_until' | 'heard'): MusterError {
  return new MusterError('FORBIDDEN', `You cannot read the messages of agent "${agentId}".`, {
    field,
    reason: 'NOT_YOUR_MESSAGES',
    suggestion: `Omit ${field}. Only the agent, the caller that registered it, and its owner can read its messages.`,
  });
}

function mailboxFull(agentId: string): MusterError {
  const what = `Agent "${agentId}" has ${MAX_UNREAD} unread messages, the maximum.`;
  return new MusterError('QUOTA_EXCEEDED', what, {
    field: 'agent_id',
    value: agentId,
    reason: 'MAILBOX_FULL',
    suggestion: 'Retry after the agent has confirmed messages. system.getAgents shows whether the agent is online.',
  });
}
