import type { Toolset } from '../../mcp/tool.ts';
import { eventSource } from './eventStream.ts';
import { templates } from './resources.ts';
import type { DataService } from './rules/data.ts';
import type { SubscriptionService } from './rules/subscriptions.ts';
import { pollEvents } from './tools/pollEvents.ts';
import { read } from './tools/read.ts';
import { subscribe } from './tools/subscribe.ts';
import { unsubscribe } from './tools/unsubscribe.ts';
import { write } from './tools/write.ts';

/** Data, read and written as the caller. Source: spec/network.md, "Firebase Tools". */
export const firebase: Toolset = {
  name: 'firebase',
  instructions:
    'read and write data as yourself, under the security rules; messages/ and shared/ are free-form. subscribe begins a log of changes, and pollEvents waits for the next.',
  tools: [read, write, subscribe, unsubscribe, pollEvents],
  resources: [],
  templates,
  events: eventSource,
};

declare module '../../mcp/callContext.ts' {
  interface Services {
    readonly data: DataService;
    readonly subscriptions: SubscriptionService;
  }
}
