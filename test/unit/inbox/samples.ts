import type { Request } from '../../../functions/src/toolsets/inbox/rules/request.ts';

const START = new Date('2026-11-22T09:00:00Z');

export function sampleRequest(changed: Partial<Request> = {}): Request {
  return {
    id: 'request-1',
    workspace: 'default',
    kind: 'text',
    question: 'What is it to be called?',
    options: [],
    askedBy: 'agent:lead',
    askedByAgent: 'lead',
    ownerUid: 'ada',
    askedOf: 'ada',
    askedOfName: 'Ada',
    state: 'open',
    createdAt: START,
    expiresAt: new Date(START.getTime() + 86_400_000),
    putOff: false,
    epoch: 0,
    ...changed,
  };
}
