import { z } from 'zod';
import { promptsFor } from '../../../mcp/prompt.ts';
import type { InboxServices } from '../create.ts';

export const needsMe = promptsFor<InboxServices>()({
  name: 'needs_me',
  title: 'What needs me',
  description: 'Lists the questions and approvals that wait for you, and sends your answers.',
  input: z.strictObject({}),
  text: `Show the user what waits for them:
1. Call inbox.list {box: "received", state: "open"}.
2. Show the requests one at a time, oldest first: the question, who asks, the options, and when the request expires.
3. Send the user's answer with inbox.answer. Never answer a request yourself. If you are not allowed to send the answer, tell the user to answer in the console, under Needs you.`,
});
