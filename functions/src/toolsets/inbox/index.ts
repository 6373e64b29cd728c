import type { Toolset } from '../../mcp/tool.ts';
import type { InboxServices } from './create.ts';
import { prompts } from './prompts.ts';
import { answer, ask, list, wait, withdraw } from './tools/requests.ts';

/** Toolset with which agents ask people. Source: docs/guides/inbox.md. */
export const inbox: Toolset<InboxServices> = {
  name: 'inbox',
  instructions:
    'inbox.ask asks a person a question, inbox.wait waits for the answer; people reply with inbox.list and inbox.answer.',
  scope: 'owner',
  tools: [ask, wait, list, answer, withdraw],
  resources: [],
  prompts,
};
