/**
 * What the page reads of stored documents, in the words that are stored. Fields that are younger than the first documents
 * have defaults; test/stored holds each schema against the samples of every release.
 */
import { z } from 'zod/mini';

const instant = z.date();
const texts = z.array(z.string());

export const workspaceDocument = z.object({ session: z._default(z.nullable(z.string()), null) });

export const sessionDocument = z.object({
  id: z.string(),
  goal: z.string(),
  master_plan: z.string(),
  created_at: instant,
});

export const counterDocument = z.object({ counts: z._default(z.record(z.string(), z.number()), {}) });

const failure = z.object({ class: z.string(), message: z.string() });

const commit = z.object({ sha: z.string(), subject: z.string() });

const codingPart = z.object({
  tool: z.string(),
  instructions: z.string(),
  branch: z.string(),
  project: z.nullable(z.string()),
  owner_uid: z.string(),
  queue_ends_at: instant,
  progress: z.nullable(z.string()),
  failure: z.nullable(failure),
  attempts: z.array(
    z.object({
      claim_epoch: z.number(),
      agent_id: z.string(),
      ended_at: instant,
      failure,
      commits: z.array(commit),
    }),
  ),
  result: z.nullable(z.object({ claim_epoch: z.number(), parts: z.number() })),
});

const spent = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: z.number(),
  milliseconds: z._default(z.number(), 0),
});

const result = z.object({
  output: z.string(),
  files_modified: z._default(texts, []),
  files_created: z._default(texts, []),
});

const partOf = z._default(z.nullable(z.object({ kind: z.string(), id: z.string() })), null);

export const taskDocument = z.object({
  id: z.string(),
  workspace: z.string(),
  session: z.string(),
  description: z.string(),
  priority: z.number(),
  status: z.string(),
  type: z._default(z.nullable(z.string()), null),
  dependencies: texts,
  dependents: texts,
  blockers: z.number(),
  failed_dependencies: texts,
  required_capabilities: texts,
  created_at: instant,
  created_by: z.string(),
  owner_uid: z._default(z.nullable(z.string()), null),
  claim_epoch: z.number(),
  claimed_by: z._default(z.nullable(z.string()), null),
  claimed_at: z._default(z.nullable(instant), null),
  started_at: z._default(z.nullable(instant), null),
  lease_seconds: z._default(z.nullable(z.number()), null),
  lease_expires_at: z._default(z.nullable(instant), null),
  claimed_by_runner: z._default(z.boolean(), false),
  lapsed_claims: z.array(z.object({ agent_id: z.string(), claim_epoch: z.number() })),
  retries: z.number(),
  retry_at: z.nullable(instant),
  result: z.nullable(result),
  error: z.nullable(z.string()),
  completed_at: z.nullable(instant),
  late_result: z.nullable(
    z.object({
      agent_id: z.string(),
      received_at: instant,
      result: z.exactOptional(result),
      error: z.exactOptional(z.string()),
    }),
  ),
  coding: z._default(z.nullable(codingPart), null),
  former_ends: z._default(
    z.array(
      z.object({
        status: z.string(),
        error: z.nullable(z.string()),
        ended_at: instant,
        agent_id: z.nullable(z.string()),
      }),
    ),
    [],
  ),
  stuck_by: z._default(z.nullable(z.string()), null),
  stuck: z._default(z.boolean(), false),
  deadline: z.exactOptional(instant),
  waiting_for: z._default(
    z.nullable(z.object({ request_id: z.string(), who: z.string(), until: instant })),
    null,
  ),
  budget_wait: z._default(z.nullable(z.string()), null),
  failed_check: z._default(
    z.nullable(
      z.object({
        name: z.string(),
        at: instant,
        repository: z.string(),
        pull_request: z.number(),
        url: z.exactOptional(z.string()),
      }),
    ),
    null,
  ),
  spent: z._default(z.nullable(spent), null),
  part_of: partOf,
});

export type Task = z.output<typeof taskDocument>;

export const agentDocument = z.object({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  description: z.nullable(z.string()),
  capability_details: z.array(z.object({ name: z.string() })),
  owner_uid: z.string(),
  role: z.string(),
  workspace: z.nullable(z.string()),
  status: z.string(),
  active_since: z._default(z.nullable(instant), null),
  registered_at: instant,
  last_seen: instant,
  held: z.record(z.string(), z.object({ claim_epoch: z.number() })),
  tasks_completed: z.number(),
  tasks_failed: z.number(),
});

export type Agent = z.output<typeof agentDocument>;

export const requestDocument = z.object({
  id: z.string(),
  workspace: z.string(),
  kind: z.enum(['approval', 'choice', 'text']),
  question: z.string(),
  options: texts,
  task_id: z.nullable(z.string()),
  asked_by: z.string(),
  asked_by_agent: z.nullable(z.string()),
  asked_of: z.string(),
  asked_of_name: z.string(),
  state: z.string(),
  answer: z.nullable(z.string()),
  comment: z.nullable(z.string()),
  created_at: instant,
  expires_at: instant,
  settled_at: z.nullable(instant),
  default: z.nullable(z.string()),
  call: z.nullable(z.object({ tool: z.string(), arguments: z.string() })),
  outcome: z.nullable(z.string()),
});

export type Request = z.output<typeof requestDocument>;

export const runDocument = z.object({
  id: z.string(),
  owner_uid: z.string(),
  started_by: z.string(),
  workspace: z.string(),
  workflow: z.string(),
  title: z.string(),
  status: z.string(),
  created_at: instant,
  ended_at: z.nullable(instant),
  cancel_requested: z.boolean(),
  deadline: instant,
  current: texts,
  steps_settled: z.number(),
  steps_planned: z.number(),
  spent: z.object({ input_tokens: z.number(), output_tokens: z.number(), cost_usd: z.number() }),
  failure: z.nullable(z.object({ reason: z.string(), message: z.string() })),
  warnings: texts,
  part_of: partOf,
});

export type Run = z.output<typeof runDocument>;

export const todoDocument = z.object({
  id: z.string(),
  owner_uid: z.string(),
  title: z.string(),
  description: z.nullable(z.string()),
  due_date: z.nullable(instant),
  priority: z.enum(['LOW', 'MEDIUM', 'HIGH']),
  tags: texts,
  completed: z.boolean(),
  completed_at: z.nullable(instant),
  created_at: instant,
  recurring_task_id: z.nullable(z.string()),
  delegated_task_id: z._default(z.nullable(z.string()), null),
});

export type Todo = z.output<typeof todoDocument>;

export const recurringDocument = z.object({
  id: z.string(),
  title: z.string(),
  frequency: z.enum(['DAILY', 'WEEKLY', 'MONTHLY']),
  start_date: instant,
  end_date: z.nullable(instant),
  timezone: z.string(),
  latest_due: instant,
});

export type Recurring = z.output<typeof recurringDocument>;

export const discoveryDocument = z.object({
  id: z.string(),
  agent_id: z.string(),
  content: z.string(),
  tags: texts,
  created_at: instant,
});

/** A chunk of a log: one part an append, each with lines of JSON. */
export const logChunkDocument = z.object({
  chunk: z.number(),
  first_line: z.number(),
  lines: z.number(),
  claim_epoch: z.number(),
  parts: z._default(z.record(z.string(), z.string()), {}),
});

export type LogChunk = z.output<typeof logChunkDocument>;

export const personDocument = z.object({
  role: z.exactOptional(z.string()),
  workspaces: z._default(z.record(z.string(), z.string()), {}),
});

export type PersonRights = z.output<typeof personDocument>;

/** What is missing or unknown is as by default, as the server reads it. Source: todo/store/notifications.ts. */
export const preferencesDocument = z.object({
  reminder_lead_minutes: z.catch(z.int().check(z.minimum(0)), 60),
  push: z.catch(z.boolean(), true),
  email: z.catch(z.boolean(), false),
  agents_may_answer: z.catch(texts, []),
});

export type Preferences = z.output<typeof preferencesDocument>;

export const presenceNode = z.object({ last_seen: z.number() });

export const countsNode = z.object({
  calls: z._default(z.number(), 0),
  failures: z._default(z.number(), 0),
  milliseconds: z._default(z.number(), 0),
  errors: z._default(z.record(z.string(), z.number()), {}),
});

/** The calls of a minute, altogether and by tool. */
export const minuteNode = z.object({
  all: z.exactOptional(countsNode),
  tools: z._default(z.record(z.string(), countsNode), {}),
});

export const metricsNode = z.record(z.string(), minuteNode);
