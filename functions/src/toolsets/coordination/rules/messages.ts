/**
 * Messages to agents. A mailbox stores the messages to an agent. The agent's calls return them until the agent
 * confirms them. If an agent has no messages, its mailbox is not read. Source: docs/semantics.md#task-actions.
 */
import { isIn } from '../../../agents/rules/agent.ts';
import type { ActingAgent } from '../../../agents/rules/liveness.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { readFor, readUnreadable, Service } from '../../../kernel/ports.ts';
import type { Mailbox, Message } from './mailbox.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { taskNotFound } from './task.ts';

const MAX_UNREAD = 20;

interface MessageDraft {
  readonly workspace: string;
  readonly agentId: string;
  readonly text: string;
  readonly taskId?: string | undefined;
}

export class AgentMessages extends Service<CoordinationPorts> {
  /** @throws MusterError NOT_FOUND for an unknown agent or task; QUOTA_EXCEEDED for too many unread messages */
  send(principal: Principal, letter: MessageDraft, recordResponse: RecordResponse<Message>): Promise<Message> {
    const { agents, clock, mailboxes, randomness, store } = this.ports;
    const { workspace, agentId, taskId, text } = letter;
    return retryOnConflict(randomness, async () => {
      const [agent, found] = await Promise.all([
        readFor(principal.owner_uid, agents.find(agentId)),
        mailboxes.find(agentId),
      ]);
      if (agent === undefined || !isIn(agent.value, workspace)) throw agentNotFound(agentId, 'agent_id');
      if (taskId !== undefined) await this.requireTask(workspace, taskId);
      const { messages: waiting, count } = found?.value ?? { messages: [], count: 0 };
      const waitingHere = waiting.filter((one) => one.workspace === workspace);
      if (waitingHere.length >= MAX_UNREAD) throw mailboxFull(agentId);
      const at = clock.now();
      const message: Message = {
        // Ids are unique per agent, and sort in the order in which the messages were sent.
        id: `message-${String(count + 1).padStart(9, '0')}`,
        from: principal.agent_id ?? principal.uid,
        workspace,
        text,
        at,
        ...(taskId !== undefined && { task_id: taskId }),
      };
      const mailbox = { id: agentId, messages: [...waiting, message], count: count + 1 };
      const changes = mailboxChanges(mailbox, found, { sent: message });
      await store.commit(changes, recordResponse(message));
      return message;
    });
  }

  /** Returns the agent's unread messages from a workspace, oldest first, if the caller may read them. */
  async unread({ id, has_messages, readsMessages }: ActingAgent, workspace: string): Promise<readonly Message[]> {
    if (!has_messages || !readsMessages) return [];
    const found = await this.ports.mailboxes.find(id);
    return found?.value.messages.filter((one) => one.workspace === workspace) ?? [];
  }

  /**
   * Deletes the messages that an agent has read in a workspace.
   * @param until id of the last message that was read
   * @returns the messages that are still unread
   * @throws MusterError FORBIDDEN if the caller cannot read the messages
   */
  async markRead(
    { id: agentId, readsMessages }: Pick<ActingAgent, 'id' | 'readsMessages'>,
    workspace: string,
    until: string,
    recordResponse: RecordResponse<readonly Message[]>,
  ): Promise<readonly Message[]> {
    if (!readsMessages) throw notYourMessages(agentId);
    const { mailboxes, randomness, store } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await mailboxes.find(agentId);
      const messages = found?.value.messages ?? [];
      const read = messages.filter((one) => one.id <= until && one.workspace === workspace);
      const left = messages.filter((one) => !read.includes(one));
      const here = left.filter((one) => one.workspace === workspace);
      const mailbox = found && read.length > 0 && { ...found.value, messages: left };
      const changes = mailbox ? mailboxChanges(mailbox, found, { read }) : [];
      await store.commit(changes, recordResponse(here));
      return here;
    });
  }

  private async requireTask(workspace: string, taskId: string): Promise<void> {
    const task = await readUnreadable((one) => one === workspace, this.ports.tasks.find(taskId));
    if (task?.value.workspace !== workspace) throw taskNotFound(taskId);
  }
}

function mailboxChanges(
  mailbox: Mailbox,
  found: Versioned<Mailbox> | undefined,
  moved: { readonly sent: Message } | { readonly read: readonly Message[] },
): CoordinationChange[] {
  const { id: agentId, messages } = mailbox;
  return [
    { kind: 'replaceMailbox', mailbox, ...(found && { version: found.version }), ...moved },
    { kind: 'setHasMessages', agentId, has_messages: messages.length > 0 },
  ];
}

/** Returns the error for an agent that is not in the workspace. @param field the argument with the id */
export function agentNotFound(agentId: string, field: 'agent_id' | 'agentId'): MusterError {
  return new MusterError('NOT_FOUND', `Agent "${agentId}" not found in this workspace.`, {
    field,
    value: agentId,
    suggestion: 'system.getAgents lists the agents of this workspace.',
  });
}

function notYourMessages(agentId: string): MusterError {
  return new MusterError('FORBIDDEN', `You cannot read the messages of agent "${agentId}".`, {
    field: 'read_until',
    reason: 'NOT_YOUR_MESSAGES',
    suggestion: 'Omit read_until. Only the agent, the caller that registered it, and its owner can read its messages.',
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
