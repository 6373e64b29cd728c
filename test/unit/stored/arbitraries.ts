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

/** Some of the fields, always a certain few: as TypeScript's `field?` means it, absent and not undefined. */
export const withSome = <All extends object, Needed extends keyof All>(
  model: { [Key in keyof All]: fc.Arbitrary<All[Key]> },
  requiredKeys: Needed[],
) => fc.record(model, { requiredKeys, noNullPrototype: true });

/** JSON has no -0. */
const throughJson = (value: object): JsonObject => jsonObject.parse(JSON.parse(JSON.stringify(value)));

const results: fc.Arbitrary<TaskResult> = withSome(
  { output: text, filesModified: texts, filesCreated: texts },
  ['output'],
);

const lateResults: fc.Arbitrary<NonNullable<Task['lateResult']>> = withSome(
  { agentId: id, epoch: count, receivedAt: date, result: results, error: text },
  ['agentId', 'epoch', 'receivedAt'],
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
  ['agentId', 'epoch', 'claimedAt', 'leaseSeconds', 'leaseExpiresAt'],
);

const failures = fc.record(
  { class: fc.constantFrom(...FAILURE_CLASSES), message: text },
  { noNullPrototype: true },
);

const pastAttempts: fc.Arbitrary<PastAttempt> = fc.record(
  {
    epoch: count,
    agentId: id,
    endedAt: date,
    failure: failures,
    commits: fc.array(fc.record({ sha: id, subject: text }, { noNullPrototype: true }), { maxLength: 2 }),
  },
  { noNullPrototype: true },
);

const codingWork: fc.Arbitrary<CodingWork> = withSome(
  {
    tool: fc.constantFrom(...CODING_TOOLS),
    instructions: text,
    branch: text,
    config: fc
      .dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true })
      .map(throughJson),
    project: text,
    ownerUid: id,
    queueSeconds: count,
    queueEndsAt: date,
    progress: text,
    failure: failures,
    attempts: fc.array(pastAttempts, { maxLength: 2 }),
    returns: count,
    result: fc.record({ epoch: count, bytes: count, parts: count }, { noNullPrototype: true }),
  },
  [
    'tool',
    'instructions',
    'branch',
    'config',
    'ownerUid',
    'queueSeconds',
    'queueEndsAt',
    'attempts',
    'returns',
  ],
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
    context: withSome({ files: texts, hints: text }, ['files']),
    createdAt: date,
    createdBy: id,
    epoch: count,
    claim: claims,
    lapsedClaims: fc.array(fc.record({ agentId: id, epoch: count }, { noNullPrototype: true }), {
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
        ['status', 'endedAt', 'epoch', 'retries'],
      ),
      { maxLength: 2 },
    ),
    releasedEpoch: count,
    stuckDependencies: fc.dictionary(id, id, { noNullPrototype: true }),
    stuckBy: id,
    stuck: fc.boolean(),
    stuckUnsettled: fc.boolean(),
  },
  [
    'id',
    'workspace',
    'session',
    'description',
    'priority',
    'status',
    'dependencies',
    'dependents',
    'blockers',
    'failedDependencies',
    'requiredCapabilities',
    'context',
    'createdAt',
    'createdBy',
    'epoch',
    'lapsedClaims',
    'retries',
    'formerEnds',
    'stuckDependencies',
    'stuck',
    'stuckUnsettled',
  ],
);

/** The claim in force always has the task's own epoch. */
export const tasks = anyTask.map(
  (task): Task => (task.claim ? { ...task, claim: { ...task.claim, epoch: task.epoch } } : task),
);

const json = fc.jsonValue({ maxDepth: 3 });
const jsonObjects = fc.dictionary(fc.string(), json, { noNullPrototype: true });

export const agents: fc.Arbitrary<Agent> = withSome(
  {
    id,
    name: text,
    type: fc.constantFrom(...AGENT_TYPES),
    version: text,
    description: text,
    creator: text,
    capabilities: fc.array(
      withSome({ name: text, category: text, parameters: jsonObjects.map(throughJson) }, [
        'name',
        'category',
      ]),
      { maxLength: 3 },
    ),
    configuration: fc.record(
      {
        maxConcurrentTasks: count,
        timeout: count,
        retryPolicy: fc.record({ maxRetries: count, backoffMs: count }, { noNullPrototype: true }),
      },
      { noNullPrototype: true },
    ),
    ownerUid: id,
    role: fc.constantFrom(...ROLES),
    workspace: id,
    parts: fc.dictionary(id, fc.constantFrom('leader', 'worker'), { maxKeys: 3, noNullPrototype: true }),
    registeredBy: id,
    serves: fc.constantFrom('owner', 'workspace'),
    status: fc.constantFrom('active', 'offline'),
    activeSince: date,
    registeredAt: date,
    lastSeen: date,
    held: fc.dictionary(id, fc.record({ session: id, epoch: count }, { noNullPrototype: true }), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
    tasksCompleted: count,
    tasksFailed: count,
    workMilliseconds: count,
    lastFailed: fc.boolean(),
    lastCompletedAt: date,
    hasMessages: fc.boolean(),
    milestones: withSome({ seen: date, joined: date, claimed: date, completed: date }, []),
  },
  [
    'id',
    'name',
    'type',
    'version',
    'capabilities',
    'configuration',
    'ownerUid',
    'role',
    'status',
    'registeredAt',
    'lastSeen',
    'held',
    'tasksCompleted',
    'tasksFailed',
    'workMilliseconds',
    'lastFailed',
    'parts',
    'serves',
    'hasMessages',
    'milestones',
  ],
);

const ancestors = fc.array(
  fc.record({ subject: id.map((line) => `key:${line}` as const), agentId: id }, { noNullPrototype: true }),
  { maxLength: 3 },
);

export const credentials: fc.Arbitrary<Credential> = withSome(
  { apiKey: id, agentId: id, secretHash: text, createdAt: date, expiresAt: date, ancestors, toolsets: texts },
  ['apiKey', 'agentId', 'secretHash', 'createdAt', 'expiresAt', 'ancestors'],
);

export const sessions: fc.Arbitrary<Session> = fc.record(
  {
    id,
    workspace: id,
    goal: text,
    masterPlan: text,
    createdAt: date,
    queueVersion: count,
    capabilityKeys: texts,
    spread: count,
    firstGate: count,
  },
  { noNullPrototype: true },
);

export const discoveries: fc.Arbitrary<Discovery> = fc.record(
  { id, workspace: id, session: id, agentId: id, content: text, tags: texts, createdAt: date },
  { noNullPrototype: true },
);

export const settledOperations: fc.Arbitrary<RecordedAnswer> = fc.record(
  {
    id,
    argumentsHash: text,
    answer: jsonObjects.map(throughJson),
    expiresAt: date,
  },
  { noNullPrototype: true },
);

export const links: fc.Arbitrary<PullRequestLink> = fc.record(
  {
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
    checks: fc.array(
      fc.record(
        { key: text, name: text, commit: id, at: date, id: count, passed: fc.boolean() },
        { noNullPrototype: true },
      ),
    ),
  },
  { noNullPrototype: true },
);

/** As to-dos are told of: no arrays in arrays, and names that are ours. */
const toldOf = fc
  .dictionary(id, fc.oneof(text, fc.boolean(), texts, fc.constant(null)), { noNullPrototype: true })
  .map(throughJson);

export const taskEvents: fc.Arbitrary<TaskEvent> = fc.record(
  {
    id,
    type: fc.constantFrom(...EVENT_TYPES),
    taskId: id,
    userId: id,
    timestamp: date,
    before: fc.option(toldOf),
    after: fc.option(toldOf),
    changes: texts,
  },
  { noNullPrototype: true },
);

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
  ['id', 'taskId', 'taskTitle', 'ownerUid', 'remindAt', 'sent'],
);
