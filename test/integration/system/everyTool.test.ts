/** Every tool that writes leaves audit entries with the changes, the agent and the agent's owner. */
import assert from 'node:assert/strict';
import { changeLoosening } from '../../../functions/src/composition/changes.ts';
import type { AuditEntry } from '../../../functions/src/kernel/auditLog.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { type Loosened, looseningsIn } from '../../../functions/src/kernel/loosening.ts';
import { fullDescription } from '../../../functions/src/mcp/catalog.ts';
import { fullName, type Tool } from '../../../functions/src/mcp/tool.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { answer } from '../coordination/calls.ts';
import { LostResponseFixture, type Scenario, Vendors } from '../lostResponses/fixture.ts';
import { scenarios } from '../lostResponses/scenarios/all.ts';

/** Tools and scenarios that leave no audit entry, with the reason. */
const SILENT: Readonly<Record<string, string>> = {
  'coordination.heartbeat': 'neither a heartbeat nor reading messages changes anything',
  'coordination.claim_task for a held task that is not started': 'the agent holds the task already',
  'coordination.claim_task without an available task': 'no task was claimed',
  'orchestration.orchestrate with a repeated prompt': 'no run starts, and the earlier response is returned',
  'coding.heartbeat_task': 'a heartbeat with progress',
  'coding.update_task with a log line': 'the log itself stores author and time of each line, and lines do not change',
  'coding.append_logs with more lines': 'as for coding.update_task with a log line',
};

/** Kinds of effects that cost money or are outside Muster. Undo leaves them. Their tools need a `destructiveHint`. */
const LEFT = ['external', 'pull_request', 'invitation', 'run'];

/** Kinds of effects that others may have read. Undo leaves them. The description of the tool must state this. */
const READ = ['message', 'request', 'discovery'];

/** Maximum number of entries to read. It is larger than the number of entries of any scenario. */
const PAGE = { limit: 100 };

describe('the audit log', () => {
  const vendors = new Vendors();
  before(() => vendors.start());
  after(() => vendors.stop());

  const writing = toolsets.flatMap(({ name, tools }) =>
    tools
      .filter(({ annotations }) => !annotations.readOnlyHint)
      .map((tool): [string, Tool] => [fullName(name, tool.name), tool]),
  );

  const stated = new Map(writing.map(([name, { loosens = [] }]) => [name, loosens]));

  for (const [name, tool] of writing) {
    const own = scenarios.filter(({ tool }) => tool === name);
    it(`records the changes of ${name}`, async () => {
      assert.ok(own.length > 0, 'the tool has no scenario');
      const left: AuditEntry[] = [];
      for (const scenario of own) left.push(...(await entriesOf(scenario)));
      if (left.length === 0) return;
      const { destructiveHint } = tool.annotations;
      const effects = left.flatMap((entry) => entry.effects);
      const isFinal = (kinds: readonly string[]) => effects.every(({ kind }) => kinds.includes(kind));
      if (isFinal(LEFT)) return assert.ok(destructiveHint, 'the tool cannot be undone and has no destructiveHint');
      if (isFinal(READ)) {
        return assert.ok(
          destructiveHint || /cannot be (?:taken back|undone|withdrawn)/.test(fullDescription(tool)),
          'the tool cannot be undone, and its description does not state this',
        );
      }
      const kept = effects.filter(({ before }) => before !== undefined);
      assert.ok(!destructiveHint || kept.length > 0, 'the audit entry does not contain the data that the call deletes');
    });
  }

  it('has exceptions in this test only for tools and scenarios that exist', () => {
    const names = scenarios.flatMap(({ tool, when }) => [tool, `${tool} ${when}`]);
    const unknown = Object.keys(SILENT).filter((name) => !names.includes(name));
    assert.deepEqual(unknown, []);
  });

  async function entriesOf({ tool, when, prepare }: Scenario): Promise<readonly AuditEntry[]> {
    const fixture = new LostResponseFixture(vendors, firestore());
    const { args, principal = fixture.leader } = await prepare(fixture);
    const { trail } = fixture.app.system;
    const list = async () => (await trail.list({ whose: { ownerUid: principal.owner_uid } }, PAGE)).items;
    const known = (await list()).map(({ id }) => id);
    const { store } = fixture.app.kernel;
    const committed = store.commit.bind(store);
    const loosened = new Set<Loosened>();
    const by = { uid: 'agent:any', agent_id: 'any', owner_uid: '', tool, workspace: '', request_id: '' };
    store.commit = async (changes, record) => {
      for (const { what } of looseningsIn(changeLoosening, changes, by)) loosened.add(what);
      await committed(changes, record);
      if (loosened.size > 0) assert.ok(record?.by, `${when}: the commit has no caller`);
    };
    await answer(fixture, tool, args, principal);
    store.commit = committed;
    const unsaid = [...loosened].filter((what) => !stated.get(tool)?.includes(what));
    assert.deepEqual(unsaid, [], `${when}: the tool loosens more than it declares`);
    const left = (await list()).filter(({ id }) => !known.includes(id));
    const isSilent = tool in SILENT || `${tool} ${when}` in SILENT;
    assert.equal(left.length === 0, isSilent, `${when}: ${left.length} entries`);
    for (const { by, effects } of left) {
      assert.deepEqual(
        [by.uid, by.agent_id, by.owner_uid, by.tool, by.workspace],
        [principal.uid, principal.agent_id, principal.owner_uid, tool, fixture.workspace],
      );
      for (const { kind, before, after } of effects)
        assert.notDeepEqual(before, after, `${when}: the ${kind} is unchanged`);
    }
    return left;
  }
});
