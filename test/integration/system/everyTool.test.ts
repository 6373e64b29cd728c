/** Every tool that writes, of the catalogue: the trail tells what its call has changed, by whom and for whom. */
import assert from 'node:assert/strict';
import { changeLoosening } from '../../../functions/src/composition/changes.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { type Loosened, looseningsIn } from '../../../functions/src/kernel/loosening.ts';
import type { TrailEntry } from '../../../functions/src/kernel/trail.ts';
import { wholeDescription } from '../../../functions/src/mcp/catalogue.ts';
import { fullName, type Tool } from '../../../functions/src/mcp/tool.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { answer } from '../coordination/calls.ts';
import { scenarios } from '../lostAnswers/scenarios/all.ts';
import { type Scenario, Scene, Vendors } from '../lostAnswers/scene.ts';

/** What leaves no entry, by the tool or by one scenario of it, and why. */
const SILENT: Readonly<Record<string, string>> = {
  'coordination.heartbeat': 'a sign of life changes nothing, nor that a message is read',
  'coordination.claim_task of what it has not started': 'the agent holds it already and is given it again',
  'coordination.claim_task in vain': 'nothing was claimed',
  'orchestration.orchestrate that was answered before': 'no run begins: the answer of one is given again',
  'coding.heartbeat_task': 'a sign of life, with how far it is',
  'coding.update_task with a line for its log':
    'the log itself keeps who says what and when, and nothing of it changes',
  'coding.append_logs with more lines': 'the same',
};

/** What has left Muster, or was paid: whoever makes it is warned before, by a hint that clients ask about. */
const LEFT = ['external', 'pull_request', 'invitation', 'run'];

/** What somebody in Muster may have read: an agent at work needs nobody's consent to it, and is told what it is. */
const READ = ['message', 'request', 'discovery'];

/** All that one scenario can have left. */
const PAGE = { limit: 100 };

describe('the trail records', () => {
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
    it(`the changes of ${name}`, async () => {
      assert.ok(own.length > 0, 'it has no scenario');
      const left: TrailEntry[] = [];
      for (const scenario of own) left.push(...(await entriesOf(scenario)));
      if (left.length === 0) return;
      const { destructiveHint } = tool.annotations;
      const effects = left.flatMap((entry) => entry.effects);
      const isFinal = (kinds: readonly string[]) => effects.every(({ kind }) => kinds.includes(kind));
      if (isFinal(LEFT))
        return assert.ok(destructiveHint, 'it cannot be taken back, and does not say so before');
      if (isFinal(READ)) {
        return assert.ok(
          destructiveHint || /cannot be (?:taken back|undone|withdrawn)/.test(wholeDescription(tool)),
          'nor here',
        );
      }
      const kept = effects.filter(({ before }) => before !== undefined);
      assert.ok(!destructiveHint || kept.length > 0, 'of what it destroys nothing is kept');
    });
  }

  it('every call, except those that are listed here with a reason', () => {
    const names = scenarios.flatMap(({ tool, when }) => [tool, `${tool} ${when}`]);
    assert.deepEqual(
      Object.keys(SILENT).filter((name) => !names.includes(name)),
      [],
    );
  });

  async function entriesOf({ tool, when, prepare }: Scenario): Promise<readonly TrailEntry[]> {
    const scene = new Scene(vendors, firestore());
    const { args, principal = scene.leader } = await prepare(scene);
    const { trail } = scene.app.system;
    const list = async () => (await trail.list({ whose: { ownerUid: principal.owner_uid } }, PAGE)).items;
    const known = (await list()).map(({ id }) => id);
    const { store } = scene.app.kernel;
    const committed = store.commit.bind(store);
    const loosened = new Set<Loosened>();
    const by = { uid: 'agent:any', agent_id: 'any', owner_uid: '', tool, workspace: '', request_id: '' };
    store.commit = async (changes, record) => {
      for (const { what } of looseningsIn(changeLoosening, changes, by)) loosened.add(what);
      await committed(changes, record);
      if (loosened.size > 0) assert.ok(record?.by, `${when}: the commit does not say whose call it is`);
    };
    await answer(scene, tool, args, principal);
    store.commit = committed;
    const unsaid = [...loosened].filter((what) => !stated.get(tool)?.includes(what));
    assert.deepEqual(unsaid, [], `${when}: it loosens more than it states`);
    const left = (await list()).filter(({ id }) => !known.includes(id));
    const isSilent = tool in SILENT || `${tool} ${when}` in SILENT;
    assert.equal(left.length === 0, isSilent, `${when}: ${left.length} entries`);
    for (const { by, effects } of left) {
      assert.deepEqual(
        [by.uid, by.agent_id, by.owner_uid, by.tool, by.workspace],
        [principal.uid, principal.agent_id, principal.owner_uid, tool, scene.workspace],
      );
      for (const { kind, before, after } of effects)
        assert.notDeepEqual(before, after, `${when}: the ${kind} is as it was`);
    }
    return left;
  }
});
