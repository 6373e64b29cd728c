/**
 * Schemas of the stored documents that the page reads. They are the server's schemas, but accept enum values of newer
 * servers. Enums on which the page's logic depends accept only known values.
 */
import { z } from 'zod/mini';
import { workspaceDocument as storedWorkspace } from '../../../functions/src/access/rules/workspace.ts';
import { presenceNode, agentDocument as storedAgent } from '../../../functions/src/agents/rules/agent.ts';
import { personDocument as storedPerson } from '../../../functions/src/identity/rules/people.ts';
import { timestamp } from '../../../functions/src/kernel/documentCodec.ts';
import { chunkDocument } from '../../../functions/src/toolsets/coding/rules/log.ts';
import { taskMessageDocument as storedMessage } from '../../../functions/src/toolsets/coordination/rules/mailbox.ts';
import * as sessions from '../../../functions/src/toolsets/coordination/rules/session.ts';
import { taskDocument as storedTask } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { requestDocument as storedRequest } from '../../../functions/src/toolsets/inbox/rules/request.ts';
import { recurringTaskDocument } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { preferencesDocument } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { todoDocument as storedTodo } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { open } from './open.ts';

export { preferencesDocument, presenceNode };

export const workspaceDocument = open(storedWorkspace);
export const sessionDocument = open(sessions.sessionDocument);
/** A session that was archived because the workspace got another goal. */
export const archivedSessionDocument = z.extend(sessionDocument, { archived_at: timestamp });
export const counterDocument = open(sessions.counterDocument);
export const discoveryDocument = open(sessions.discoveryDocument);
export const taskDocument = open(storedTask);
export type Task = z.output<typeof taskDocument>;
export const taskMessageDocument = open(storedMessage);
export const agentDocument = open(storedAgent);
export type Agent = z.output<typeof agentDocument>;
export const requestDocument = z.extend(open(storedRequest), { kind: storedRequest.shape.kind });
export type Request = z.output<typeof requestDocument>;
export const todoDocument = z.extend(open(storedTodo), { priority: storedTodo.shape.priority });
export type Todo = z.output<typeof todoDocument>;
const { frequency } = recurringTaskDocument.shape;
export const recurringDocument = z.extend(open(recurringTaskDocument), { frequency });
export type Recurring = z.output<typeof recurringDocument>;

/** Chunk of a log. Each part of the chunk is the text of one append, with one JSON value per line. */
export const logChunkDocument = open(chunkDocument);
export type LogChunk = z.output<typeof logChunkDocument>;
export const personDocument = open(storedPerson);
export type PersonRights = z.output<typeof personDocument>;
export type Preferences = z.output<typeof preferencesDocument>;

export const countsNode = z.object({
  calls: z._default(z.number(), 0),
  failures: z._default(z.number(), 0),
  milliseconds: z._default(z.number(), 0),
  errors: z._default(z.record(z.string(), z.number()), {}),
  /** Number of calls by bucket of their latency. Source: functions/src/limits/rules/latency.ts. */
  latencies: z._default(z.record(z.string(), z.number()), {}),
});

/** Number of calls in a minute or a day, in total and by tool. */
export const timeNode = z.object({
  all: z.exactOptional(countsNode),
  tools: z._default(z.record(z.string(), countsNode), {}),
  /** Cost in US dollars that runs and tasks added on the day. A minute has none. */
  dollars: z._default(z.number(), 0),
});

export const metricsNode = z.record(z.string(), timeNode);
