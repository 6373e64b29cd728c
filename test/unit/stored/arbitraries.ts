/** Arbitrary values of the domain, as far as its types allow them. */
import fc from 'fast-check';
import { AGENT_TYPES, type Agent } from '../../../functions/src/access/rules/agent.ts';
import type { Credential } from '../../../functions/src/access/rules/credential.ts';
import { ROLES } from '../../../functions/src/access/rules/role.ts';
import type { RecordedAnswer } from '../../../functions/src/kernel/commit.ts';
import { type JsonObject, jsonObject } from '../../../functions/src/kernel/json.ts';
import type {
  CodingWork,
  PastAttempt,
} from '../../../functions/src/toolsets/coordination/rules/codingTask.ts';
import type { Discovery, Session } from '../../../functions/src/toolsets/coordination/rules/session.ts';
import {
  type Claim,
  CODING_TOOLS,
  FAILURE_CLASSES,
  TASK_STATUSES,
  type Task,
  type TaskResult,
} from '../../../functions/src/toolsets/coordination/rules/task.ts';
import type { PullRequestLink } from '../../../functions/src/toolsets/github/rules/link.ts';
import type { Reminder } from '../../../functions/src/toolsets/todo/rules/reminder.ts';
import { EVENT_TYPES, type TaskEvent } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';

export const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,20}$/);

const ids = fc.array(id, { maxLength: 4 });

export const text = fc.string({ unit: 'binary', maxLength: 30 });

export const texts = fc.array(text, { maxLength: 4 });

const count = fc.nat(1000);

export const date = fc.date({
  min: new Date('2020-01-01'),
  max: new Date('2100-01-01'),
  noInvalidDate: true,
});

const PLAIN = { noNullPrototype: true };

const dictionary = <Value>(
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<Value>,
  limits: { readonly maxKeys?: number } = {},
) => fc.dictionary(keys, values, { ...limits, ...PLAIN });

type Model<All> = { [Key in keyof All]: fc.Arbitrary<All[Key]> };

/** All of the fields. */
export const whole = <All extends object>(model: Model<All>) => fc.record<All>(model, PLAIN);

/** Any of the fields that may be absent, and all others: as TypeScript's `field?` means it, absent and not undefined. */
export const withSome = <All extends object, MayLack extends keyof All>(
  model: Model<All>,
  mayLack: readonly MayLack[],
) => {
  const lacking: ReadonlySet<PropertyKey> = new Set(mayLack);
  const isRequired = (key: keyof All): key is Exclude<keyof All, MayLack> => !lacking.has(key);
  const requiredKeys = (Object.keys(model) as (keyof All)[]).filter(isRequired);
  return fc.record(model, { requiredKeys, ...PLAIN });
};

/** JSON has no -0. */
const throughJson = (value: object): JsonObject => jsonObject.parse(JSON.parse(JSON.stringify(value)));

const results: fc.Arbitrary<TaskResult> = withSome(
  { output: text, filesModified: texts, filesCreated: texts },
  ['filesModified', 'filesCreated'],
);

const lateResults: fc.Arbitrary<NonNullable<Task['lateResult']>> = withSome(
  { agentId: id, epoch: count, receivedAt: date, result: results, error: text },
  ['result', 'error'],
);

const claims: fc.Arbitrary<Claim> = withSome(
  {
    agentId: id,
    epoch: count,
    claimedAt: date,
    leaseSeconds: count,
    leaseExpiresAt: date,
    startedAt: date,
    isRunners: fc.constant(true as const),
  },
  ['startedAt', 'isRunners'],
);

const failures = whole({ class: fc.constantFrom(...FAILURE_CLASSES), message: text });

const pastAttempts: fc.Arbitrary<PastAttempt> = whole({
  epoch: count,
  agentId: id,
  endedAt: date,
  failure: failures,
  commits: fc.array(whole({ sha: id, subject: text }), { maxLength: 2 }),
});

const codingWork: fc.Arbitrary<CodingWork> = withSome(
  {
    tool: fc.constantFrom(...CODING_TOOLS),
    instructions: text,
    branch: text,
    config: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })).map(throughJson),
    project: text,
    ownerUid: id,
    queueSeconds: count,
    queueEndsAt: date,
    progress: text,
    failure: failures,
    attempts: fc.array(pastAttempts, { maxLength: 2 }),
    returns: count,
    result: whole({ epoch: count, bytes: count, parts: count }),
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
    failedDependencies: ids,
    requiredCapabilities: texts,
    context: withSome({ files: texts, hints: text }, ['hints']),
    createdAt: date,
    createdBy: id,
    epoch: count,
    claim: claims,
    lapsedClaims: fc.array(whole({ agentId: id, epoch: count }), {
      maxLength: 3,
    }),
    retries: count,
    retryAt: date,
    result: results,
    error: text,
    closedAt: date,
    lateResult: lateResults,
    coding: codingWork,
    ownerUid: id,
    formerEnds: fc.array(
      withSome(
        {
          status: fc.constantFrom('failed' as const, 'cancelled' as const),
          error: text,
          endedAt: date,
          epoch: count,
          agentId: id,
          retries: count,
        },
        ['error', 'agentId'],
      ),
      { maxLength: 2 },
    ),
    releasedEpoch: count,
    stuckDependencies: dictionary(id, id),
    stuckBy: id,
    stuck: fc.boolean(),
    stuckUnsettled: fc.boolean(),
  },
  [
    'claim',
    'retryAt',
    'result',
    'error',
    'closedAt',
    'lateResult',
    'coding',
    'ownerUid',
    'releasedEpoch',
    'stuckBy',
  ],
);

/** The claim in force always has the task's own epoch. */
export const tasks = anyTask.map(
  (task): Task => (task.claim ? { ...task, claim: { ...task.claim, epoch: task.epoch } } : task),
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
    capabilities: fc.array(
      withSome({ name: text, category: text, parameters: jsonObjects.map(throughJson) }, ['parameters']),
      { maxLength: 3 },
    ),
    configuration: whole({
      maxConcurrentTasks: count,
      timeout: count,
      retryPolicy: whole({ maxRetries: count, backoffMs: count }),
    }),
    ownerUid: id,
    role: fc.constantFrom(...ROLES),
    workspace: id,
    parts: dictionary(id, fc.constantFrom('leader', 'worker'), { maxKeys: 3 }),
    registeredBy: id,
    serves: fc.constantFrom('owner', 'workspace'),
    status: fc.constantFrom('active', 'offline'),
    activeSince: date,
    registeredAt: date,
    lastSeen: date,
    held: dictionary(id, whole({ session: id, epoch: count }), {
      maxKeys: 3,
    }),
    tasksCompleted: count,
    tasksFailed: count,
    workMilliseconds: count,
    lastFailed: fc.boolean(),
    lastCompletedAt: date,
    hasMessages: fc.boolean(),
    milestones: withSome({ seen: date, joined: date, claimed: date, completed: date }, [
      'seen',
      'joined',
      'claimed',
      'completed',
    ]),
  },
  ['description', 'creator', 'workspace', 'registeredBy', 'activeSince', 'lastCompletedAt'],
);

const ancestors = fc.array(whole({ subject: id.map((line) => `key:${line}` as const), agentId: id }), {
  maxLength: 3,
});

export const credentials: fc.Arbitrary<Credential> = withSome(
  { apiKey: id, agentId: id, secretHash: text, createdAt: date, expiresAt: date, ancestors, toolsets: texts },
  ['toolsets'],
);

export const sessions: fc.Arbitrary<Session> = whole({
  id,
  workspace: id,
  goal: text,
  masterPlan: text,
  createdAt: date,
  queueVersion: count,
  capabilityKeys: texts,
  spread: count,
  firstGate: count,
});

export const discoveries: fc.Arbitrary<Discovery> = whole({
  id,
  workspace: id,
  session: id,
  agentId: id,
  content: text,
  tags: texts,
  createdAt: date,
});

export const settledOperations: fc.Arbitrary<RecordedAnswer> = whole({
  id,
  argumentsHash: text,
  answer: jsonObjects.map(throughJson),
  expiresAt: date,
});

export const links: fc.Arbitrary<PullRequestLink> = whole({
  repositoryId: count,
  number: count,
  owner: id,
  repo: id,
  taskId: id,
  linkedBy: id,
  linkedAt: date,
  workspace: id,
  title: text,
  state: fc.constantFrom('open', 'merged', 'closed'),
  checks: fc.array(whole({ key: text, name: text, commit: id, at: date, id: count, passed: fc.boolean() })),
});

/** As to-dos are told of: no arrays in arrays, and names that are ours. */
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
    taskId: id,
    taskTitle: text,
    ownerUid: id,
    remindAt: date,
    sent: fc.boolean(),
    sentAt: date,
    late: fc.boolean(),
  },
  ['sentAt', 'late'],
);
