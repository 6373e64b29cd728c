import { z } from 'zod';
import { idOf } from '../../kernel/ids.ts';
import { promptsFor } from '../../mcp/prompt.ts';
import { templatesFor } from '../../mcp/resource.ts';
import type { Toolset } from '../../mcp/tool.ts';
import type { InboxServices } from './create.ts';
import texts from './prompts.json' with { type: 'json' };
import { answer, ask, list, wait, withdraw } from './tools/requests.ts';

/** Maximum length of questions and descriptions, which other tools return in full. */
const SHOWN = 500;
const shown = (text: string): string => text.slice(0, SHOWN).toWellFormed();

/** Clients can watch this resource through MCP's `subscriptions/listen`. */
const agentInbox = templatesFor<InboxServices>()({
  uriTemplate: 'inbox://agents/{agentId}',
  name: 'agent-inbox',
  title: "An agent's inbox",
  description:
    'News for an agent: unread messages, its questions that were closed, and tasks that it can claim. Watch this resource with subscriptions/listen.',
  mimeType: 'application/json',
  role: 'viewer',
  scope: 'workspace',
  returnsWhole: true,
  variables: z.strictObject({ agentId: idOf('an agent') }),
  read: async ({ services, principal, workspace }, { agentId }) => {
    const { agent, messages, requests, tasks } = await services.inbox.agentInboxes.read(principal, workspace, agentId);
    return JSON.stringify({
      agent_id: agent.id,
      holds: Object.keys(agent.held).length,
      messages,
      requests: requests.map(({ id, question, state }) => ({ request_id: id, question: shown(question), state })),
      tasks: tasks.map(({ id, description }) => ({ task_id: id, description: shown(description) })),
    });
  },
  watch: ({ services, principal, workspace, disconnectSignal }, { agentId }) =>
    services.inbox.agentInboxes.watch(principal, workspace, agentId, disconnectSignal()),
});

/** Toolset with which agents ask people. Source: docs/guides/inbox.md. */
export const inbox: Toolset<InboxServices> = {
  name: 'inbox',
  instructions:
    'inbox.ask asks a person a question, inbox.wait waits for the answer; people reply with inbox.list and inbox.answer.',
  scope: 'owner',
  tools: [ask, wait, list, answer, withdraw],
  resources: [],
  templates: [agentInbox],
  prompts: [promptsFor<InboxServices>()('needs_me', texts.needs_me)],
};
