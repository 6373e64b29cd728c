import type { Toolset } from '../../mcp/tool.ts';
import { pollEvents } from './pollEvents.ts';
import { read } from './read.ts';
import { templates } from './resources.ts';
import { subscribe } from './subscribe.ts';
import { unsubscribe } from './unsubscribe.ts';
import { write } from './write.ts';

/** Data, read and written as the caller. Source: spec/network.md, "Firebase Tools". */
export const firebase: Toolset = {
  name: 'firebase',
  instructions:
    'read and write data as yourself, under the security rules; messages/ and shared/ are free-form. subscribe begins a log of changes, and pollEvents waits for the next.',
  tools: [read, write, subscribe, unsubscribe, pollEvents],
  resources: [],
  templates,
};
