/** Generates arbitrary values of the domain types. */
import fc from 'fast-check';
import { AGENT_TYPES, type Agent } from '../../../functions/src/agents/rules/agent.ts';
import type { Credential } from '../../../functions/src/identity/rules/credential.ts';
import { ROLES } from '../../../functions/src/identity/rules/role.ts';
import type { RecordedResponse } from '../../../functions/src/kernel/commit.ts';
import { type JsonObject, jsonObject } from '../../../functions/src/kernel/json.ts';
import type { CodingWork, PastAttempt } from '../../../functions/src/toolsets/coordination/rules/codingTask.ts';
import type { Discovery, Session } from '../../../functions/src/toolsets/coordination/rules/session.ts';
import {
  type Claim,
  CODING_TOOLS,
  FAILURE_CLASSES,
  HEARINGS,
  TASK_STATUSES,
  type Task,
  type TaskResult,
} from '../../../functions/src/toolsets/coordination/rules/task.ts';
import type { PullRequestLink } from '../../../functions/src/toolsets/github/rules/link.ts';
import type { Reminder } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { EVENT_TYPES, type TaskEvent } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';

export const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,20}$/);
const ids = fc.array(id, { maxLength: 4 });
export const text = fc.string({ unit: 'binary', maxLength: 30 });
export const texts = fc.array(text, { maxLength: 4 });
const count = fc.nat(1000);
export const date = fc.date({ min: new Date('2020-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
const PLAIN = { noNullPrototype: true };

const dictionary = <Value>(
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<Value>,
  limits: { readonly maxKeys?: number } = {},
) => fc.dictionary(keys, values, { ...limits, ...PLAIN });

type Model<All> = { [Key in keyof All]: fc.Arbitrary<All[Key]> };

export const whole = <All extends object>(model: Model<All>) => fc.record<All>(model, PLAIN);

/** Generates records that may lack some fields. A lacking field is absent, as with TypeScript's `field?`. */
export const withSome = <All extends object, MayLack extends keyof All>(
  model: Model<All>,
  mayLack: readonly MayLack[],
) => {
  const lacking: ReadonlySet<PropertyKey> = new Set(mayLack);
  const isRequired = (key: keyof All): key is Exclude<keyof All, MayLack> => !lacking.has(key);
  const requiredKeys = (Object.keys(model) as (keyof All)[]).filter(isRequired);
  return fc.record(model, { requiredKeys, ...PLAIN });
};

const throughJson = (value: object): JsonObject => jsonObject.parse(JSON.parse(JSON.stringify(value)));

const results: fc.Arbitrary<TaskResult> = withSome({ output: text, files_modified: texts, files_created: texts }, [
  'files_modified',
  'files_created',
]);

const lateResults: fc.Arbitrary<NonNullable<Task['late_result']>> = withSome(
  { agent_id: id, claim_epoch: count, received_at: date, result: results, error: text },
  ['result', 'error'],
);

const claims: fc.Arbitrary<Claim> = withSome(
  {
    claimed_by: id,
    claim_epoch: count,
    claimed_at: date,
    lease_seconds: count,
    lease_expires_at: date,
    started_at: date,
    claimed_by_runner: fc.constant(true as const),
    hearing: fc.constantFrom(...HEARINGS),
  },
  ['started_at', 'claimed_by_runner', 'hearing'],
);

const failures = whole({ class: fc.constantFrom(...FAILURE_CLASSES), message: text });

const pastAttempts: fc.Arbitrary<PastAttempt> = whole({
  claim_epoch: count,
  agent_id: id,
  ended_at: date,
  failure: failures,
  commits: fc.array(whole({ sha: id, subject: text }), { maxLength: 2 }),
});

const codingWork: fc.Arbitrary<CodingWork> = withSome(
  {
    tool: fc.constantFrom(...CODING_TOOLS, 'MY_AGENT'),
    instructions: text,
    branch: text,
    config: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })).map(throughJson),
    project: text,
    owner_uid: id,
    queue_seconds: count,
    queue_ends_at: date,
    progress: text,
    failure: failures,
    attempts: fc.array(pastAttempts, { maxLength: 2 }),
    returns: count,
    result: whole({ claim_epoch: count, bytes: count, parts: count }),
  },
  ['project', 'progress', 'failure', 'result'],
);

const anyTask: fc.Arbitrary<Task> = withSome(
  {
    id,
    workspace: id,
    session: id,
    description: text,
    priority: fc.integer({ min: 1, max: 10 }),
    status: fc.constantFrom(...TASK_STATUSES),
    dependencies: ids,
    dependents: ids,
    blockers: count,
    failed_dependencies: ids,
    required_capabilities: texts,
    context: withSome({ files: texts, hints: text }, ['hints']),
    created_at: date,
    created_by: id,
    claim_epoch: count,
    claim: claims,
    lapsed_claims: fc.array(whole({ agent_id: id, claim_epoch: count }), { maxLength: 3 }),
    retries: count,
    retry_at: date,
    result: results,
    error: text,
    completed_at: date,
    late_result: lateResults,
    coding: codingWork,
    owner_uid: id,
    former_ends: fc.array(
      withSome(
        {
          status: fc.constantFrom('failed' as const, 'cancelled' as const),
          error: text,
          ended_at: date,
          claim_epoch: count,
          agent_id: id,
          retries: count,
        },
        ['error', 'agent_id'],
      ),
      { maxLength: 2 },
    ),
    released_epoch: count,
    stuck_dependencies: dictionary(id, id),
    stuck_by: id,
    stuck: fc.boolean(),
    stuck_unsettled: fc.boolean(),
    file_wait: count,
    files_held: fc.boolean(),
    files_wait: id,
    files_since: date,
  },
  [
    'file_wait',
    'files_wait',
    'files_since',
    'claim',
    'retry_at',
    'result',
    'error',
    'completed_at',
    'late_result',
    'coding',
    'owner_uid',
    'released_epoch',
    'stuck_by',
  ],
);

/** The claim epoch of the current claim is always that of the task. */
export const tasks = anyTask.map(
  (task): Task => (task.claim ? { ...task, claim: { ...task.claim, claim_epoch: task.claim_epoch } } : task),
);

const json = fc.jsonValue({ maxDepth: 3 });
const jsonObjects = dictionary(fc.string(), json);

export const agents: fc.Arbitrary<Agent> = withSome(
  {
    id,
    name: text,
    type: fc.constantFrom(...AGENT_TYPES),
    version: text,
    description: text,
    creator: text,
    capability_details: fc.array(
      withSome({ name: text, category: text, parameters: jsonObjects.map(throughJson) }, ['parameters']),
      { maxLength: 3 },
    ),
    configuration: whole({
      max_concurrent_tasks: count,
      timeout: count,
      retry_policy: whole({ max_retries: count, backoff_ms: count }),
    }),
    owner_uid: id,
    role: fc.constantFrom(...ROLES),
    workspace: id,
    parts: dictionary(id, fc.constantFrom('leader', 'worker'), { maxKeys: 3 }),
    registered_by: id,
    serves: fc.constantFrom('owner', 'workspace'),
    status: fc.constantFrom('active', 'offline'),
    active_since: date,
    registered_at: date,
    last_seen: date,
    held: dictionary(id, whole({ session: id, claim_epoch: count }), { maxKeys: 3 }),
    tasks_completed: count,
    tasks_failed: count,
    work_milliseconds: count,
    last_failed: fc.boolean(),
    last_completed_at: date,
    has_messages: fc.boolean(),
    milestones: withSome({ seen: date, joined: date, claimed: date, completed: date }, [
      'seen',
      'joined',
      'claimed',
      'completed',
    ]),
  },
  ['description', 'creator', 'workspace', 'registered_by', 'active_since', 'last_completed_at'],
);

const ancestors = fc.array(whole({ subject: id.map((line) => `key:${line}` as const), agent_id: id }), {
  maxLength: 3,
});

export const credentials: fc.Arbitrary<Credential> = withSome(
  { api_key: id, agent_id: id, secret_hash: text, created_at: date, expires_at: date, ancestors, toolsets: texts },
  ['toolsets'],
);

export const sessions: fc.Arbitrary<Session> = whole({
  id,
  workspace: id,
  goal: text,
  master_plan: text,
  created_at: date,
  queue_version: count,
  capability_keys: texts,
  spread: count,
  first_gate: count,
  counter_shards: count,
});

export const discoveries: fc.Arbitrary<Discovery> = whole({
  id,
  workspace: id,
  session: id,
  agent_id: id,
  content: text,
  tags: texts,
  created_at: date,
});

export const settledOperations: fc.Arbitrary<RecordedResponse> = whole({
  id,
  arguments_hash: text,
  answer: jsonObjects.map(throughJson),
  expires_at: date,
});

export const links: fc.Arbitrary<PullRequestLink> = whole({
  repository_id: count,
  number: count,
  owner: id,
  repo: id,
  task_id: id,
  linked_by: id,
  linked_at: date,
  workspace: id,
  title: text,
  state: fc.constantFrom('open', 'merged', 'closed'),
  checks: fc.array(whole({ key: text, name: text, commit: id, at: date, id: count, passed: fc.boolean() })),
});

/** Fields of a to-do event, which contain only valid names and no nested arrays. */
const toldOf = fc.dictionary(id, fc.oneof(text, fc.boolean(), texts, fc.constant(null))).map(throughJson);

export const taskEvents: fc.Arbitrary<TaskEvent> = whole({
  id,
  type: fc.constantFrom(...EVENT_TYPES),
  taskId: id,
  userId: id,
  timestamp: date,
  before: fc.option(toldOf),
  after: fc.option(toldOf),
  changes: texts,
});

export const reminders: fc.Arbitrary<Reminder> = withSome(
  {
    id,
    task_id: id,
    task_title: text,
    owner_uid: id,
    remind_at: date,
    sent: fc.boolean(),
    sent_at: date,
    late: fc.boolean(),
  },
  ['sent_at', 'late'],
);
