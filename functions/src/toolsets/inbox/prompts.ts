import { type Prompt, promptsFor } from '../../mcp/prompt.ts';
import type { InboxServices } from './create.ts';
import texts from './prompts.json' with { type: 'json' };

export const prompts: readonly Prompt<InboxServices>[] = [promptsFor<InboxServices>()('needs_me', texts.needs_me)];
