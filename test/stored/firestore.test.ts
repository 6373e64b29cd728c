/** The current code can read every stored version of each Firestore document, even with additional fields. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { workspaceFromDocument } from '../../functions/src/access/rules/workspace.ts';
import {
  agentCountFromDocument,
  agentFromDocument,
  skillFromDocument,
  sumAgents,
} from '../../functions/src/agents/rules/agent.ts';
import {
  budgetFromDocument,
  countsFromDocument,
  reservationFromDocument,
} from '../../functions/src/graph/rules/budget.ts';
import { nodeFromDocument } from '../../functions/src/graph/rules/graphNode.ts';
import { credentialFromDocument } from '../../functions/src/identity/rules/credential.ts';
import { grantFromDocument } from '../../functions/src/identity/rules/grant.ts';
import {
  accessFromDocument,
  invitationFromDocument,
  memberFromDocument,
  personFromDocument,
} from '../../functions/src/identity/rules/people.ts';
import { accessChangeFromDocument } from '../../functions/src/identity/store/credentials.ts';
import { auditEntryFromDocument } from '../../functions/src/kernel/auditLog.ts';
import * as paths from '../../functions/src/kernel/firestore/paths.ts';
import { recordedResponseFromDocument } from '../../functions/src/kernel/firestore/store.ts';
import { canonicalJson } from '../../functions/src/kernel/json.ts';
import { sweepFromDocument } from '../../functions/src/kernel/sweep.ts';
import { authorizationFromDocument } from '../../functions/src/signin/rules/authorization.ts';
import { clientFromDocument } from '../../functions/src/signin/rules/clients.ts';
import { headFromDocument } from '../../functions/src/toolsets/coding/rules/log.ts';
import { linesFromDocument } from '../../functions/src/toolsets/coding/store/logs.ts';
import { heldFilesFromDocument } from '../../functions/src/toolsets/coordination/rules/files/heldFiles.ts';
import {
  mailboxFromDocument,
  taskMessageFromDocument,
} from '../../functions/src/toolsets/coordination/rules/mailbox.ts';
import {
  counterFromDocument,
  discoveryFromDocument,
  sessionFromDocument,
  sumCounters,
} from '../../functions/src/toolsets/coordination/rules/session.ts';
import { resultPartFromDocument, taskFromDocument } from '../../functions/src/toolsets/coordination/rules/task.ts';
import { markerDocument } from '../../functions/src/toolsets/firebase/firestore/write.ts';
import { subscriptionFromDocument } from '../../functions/src/toolsets/firebase/rules/subscription.ts';
import { linkFromDocument } from '../../functions/src/toolsets/github/rules/link.ts';
import { requestFromDocument } from '../../functions/src/toolsets/inbox/rules/request.ts';
import { measureFromDocument } from '../../functions/src/toolsets/orchestration/rules/agents/profile.ts';
import { callFromDocument } from '../../functions/src/toolsets/orchestration/rules/calls/attempt.ts';
import { orderFromDocument, runFromDocument } from '../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { stepFromDocument } from '../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { workflowFromDocument } from '../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { answerFromDocument } from '../../functions/src/toolsets/orchestration/store/runs.ts';
import { workFromDocument } from '../../functions/src/toolsets/orchestration/store/workflows.ts';
import { recurringTaskFromDocument } from '../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { reminderFromDocument } from '../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { todoFromDocument } from '../../functions/src/toolsets/todo/rules/todo.ts';
import { eventFromDocument } from '../../functions/src/toolsets/todo/store/events.ts';
import { preferencesFromDocument } from '../../functions/src/toolsets/todo/store/notifications.ts';
import {
  lastReportedOf,
  titleGuardFromDocument,
  todoFromRecord,
} from '../../functions/src/toolsets/todo/store/todoDocument.ts';
import { asRead, directoryOf, storedNames, storedVersions } from './documents.ts';
import { collectionOf, recorded } from './recording.ts';

/** Used for documents that the server writes but never reads. */
const notRead = () => undefined;

/** For each collection, the function that reads its documents. */
const READERS: ReadonlyMap<string, (data: unknown) => unknown> = new Map<string, (data: unknown) => unknown>([
  ['agents', agentFromDocument],
  ['mailboxes', mailboxFromDocument],
  ['trail', auditEntryFromDocument],
  ['credentials', credentialFromDocument],
  ['grants', grantFromDocument],
  ['authorizations', authorizationFromDocument],
  ['clients', clientFromDocument],
  ['workspaces', workspaceFromDocument],
  ['workspaces.sessions', sessionFromDocument],
  ['workspaces.archive', sessionFromDocument],
  ['workspaces.sessions.counters', (data) => sumCounters([counterFromDocument(data)])],
  ['workspaces.sessions.gates', notRead],
  ['workspaces.agentCounts', (data) => sumAgents([agentCountFromDocument(data)])],
  ['workspaces.members', memberFromDocument],
  ['workspaces.routing', workFromDocument],
  ['people', personFromDocument],
  ['access', accessFromDocument],
  ['accessChanges', accessChangeFromDocument],
  ['invitations', invitationFromDocument],
  ['tasks', taskFromDocument],
  ['heldFiles', heldFilesFromDocument],
  ['tasks.logs', (data) => (isNote(data) ? notRead() : [headFromDocument(data), linesFromDocument(data)])],
  ['tasks.messages', taskMessageFromDocument],
  ['tasks.results', resultPartFromDocument],
  ['discoveries', discoveryFromDocument],
  ['idempotency', (data) => recordedResponseFromDocument('id', data)],
  ['commits', notRead],
  ['writers.commits', (data) => markerDocument.parse(data)],
  ['pullRequests', linkFromDocument],
  ['subscriptions', (data) => subscriptionFromDocument(data, 'id')],
  ['skills', skillFromDocument],
  ['events', eventFromDocument],
  ['reminders', reminderFromDocument],
  ['requests', requestFromDocument],
  ['audit', notRead],
  ['mail', notRead],
  ['preferences', preferencesFromDocument],
  ['todos', (data) => [todoFromDocument(data), lastReportedOf(data), todoFromRecord(data)]],
  ['titleGuards', titleGuardFromDocument],
  ['recurringTasks', recurringTaskFromDocument],
  ['workflows', workflowFromDocument],
  ['agentMeasures', measureFromDocument],
  ['runs', runFromDocument],
  ['runs.order', orderFromDocument],
  ['runs.steps', stepFromDocument],
  ['runs.calls', callFromDocument],
  ['answerCache', answerFromDocument],
  ['sweeps', sweepFromDocument],
  ['graph', nodeFromDocument],
  ['budgets', budgetFromDocument],
  ['budgets.counts', countsFromDocument],
  ['reservations', reservationFromDocument],
]);

/** Collections whose documents the server never writes, because people's clients write them directly. */
const WRITTEN_BY_OTHERS = ['preferences'];

/** Returns whether a log entry of a task is a note. The server never reads notes. */
function isNote(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'kind' in data;
}

/** Collections whose documents contain subcollections, but no fields. */
const WITHOUT_DOCUMENTS: readonly string[] = ['writers'];

/** Formats the documents as JSON with one document per line. */
function linesOf(documents: Readonly<Record<string, unknown>> = {}): string {
  const lines = Object.entries(documents).map(
    ([id, document]) => `  ${JSON.stringify({ [id]: document }).slice(1, -1)}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** Returns the names of all collections, from the constants and path functions of `paths.ts`. */
function collections(): readonly string[] {
  const made = Object.entries(paths).flatMap(([name, make]) => {
    if (!name.endsWith('Path') || typeof make !== 'function') return [];
    const path: unknown = Reflect.apply(make, undefined, ['1', '2', '3']);
    assert.ok(typeof path === 'string');
    return [collectionOf(path)];
  });
  const all = new Set([...Object.values(paths.COLLECTIONS), ...made]);
  return [...all].filter((collection) => !WITHOUT_DOCUMENTS.includes(collection)).sort();
}

describe('stored Firestore documents', () => {
  it('have sample files and a reader function for every collection', () => {
    assert.deepEqual(storedNames('firestore'), collections());
    assert.deepEqual([...READERS.keys()].sort(), collections());
  });

  for (const collection of storedNames('firestore')) {
    const read = READERS.get(collection) ?? assert.fail(`${collection} has no reader function`);
    for (const { version, documents } of storedVersions('firestore', collection))
      for (const [id, document] of Object.entries(documents))
        it(`${collection}/${id} in version ${version} can be read, even with additional fields`, () => {
          const data = asRead(document);
          const found = read(data);
          assert.ok(typeof data === 'object');
          assert.deepEqual(read({ ...data, field_of_tomorrow: { of: ['a', 'newer', 'version'] } }), found);
        });
  }

  /** If the stored form changes, a new file is required. Existing files stay unchanged. */
  it('are written by the current code as in the latest sample file of their collection', async () => {
    const written = await recorded();
    const isUpdate = process.env['UPDATE_SNAPSHOTS'] === '1';
    const differing: string[] = [];
    for (const collection of collections()) {
      if (WRITTEN_BY_OTHERS.includes(collection)) continue;
      const directory = directoryOf('firestore', `${collection}/`);
      if (isUpdate) mkdirSync(directory, { recursive: true });
      const last = storedVersions('firestore', collection).at(-1);
      const today = written.get(collection);
      // Firestore does not preserve the order of fields, so the comparison ignores it.
      if (canonicalJson(last?.documents) === canonicalJson(today)) continue;
      if (!isUpdate) {
        differing.push(collection);
        continue;
      }
      const file = new URL(`${(last?.version ?? 0) + 1}.json`, directory);
      writeFileSync(file, linesOf(today));
    }
    assert.deepEqual(
      differing,
      [],
      'the stored form has changed. UPDATE_SNAPSHOTS=1 npm test -- stored adds a version. Keep older versions.',
    );
  });
});
