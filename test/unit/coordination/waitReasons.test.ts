/** Why a task does not go ahead, and what changes that. Source: docs/guides/access.md#why. */
import assert from 'node:assert/strict';
import { DEFAULT_PROOF } from '../../../functions/src/access/rules/proofSettings.ts';
import { handIn } from '../../../functions/src/toolsets/coordination/rules/proof/proving.ts';
import {
  type Candidate,
  progressOf,
  type TaskFacts,
} from '../../../functions/src/toolsets/coordination/rules/waitReasons.ts';
import { START, sampleCodingTask, sampleCodingWork, sampleTask, secondsAfterStart } from '../../support/builders.ts';

const agent = (id: string, more: Partial<Candidate['agent']> = {}): Candidate => {
  return { agent: { id, owner_uid: 'ben', serves: 'owner', ...more }, availability: 'idle' };
};
const ann = agent('ann');
const coding = sampleCodingTask({ coding: sampleCodingWork({ owner_uid: 'ada' }), required_capabilities: ['claude'] });
const claim = {
  claimed_by: 'ann',
  claim_epoch: 1,
  claimed_at: START,
  lease_seconds: 60,
  lease_expires_at: secondsAfterStart(60),
};

const reasons = (facts: Partial<TaskFacts>) =>
  progressOf({ task: sampleTask(), open: [], candidates: [ann], nameOf: () => 'Ada', ...facts });

const HANDED_IN = handIn(
  sampleTask(),
  { ...DEFAULT_PROOF, review: 'any' },
  { by: claim, result: { output: 'Mixed' } },
  START,
);
const VERIFYING = { ...HANDED_IN, ...(HANDED_IN.proof && { proof: { ...HANDED_IN.proof, check: 'task-6' } }) };

const CASES: Readonly<Record<string, [Partial<TaskFacts>, RegExp | undefined, RegExp?]>> = {
  'an agent can claim it': [{}, undefined],
  'it is held': [{ task: sampleTask({ status: 'claimed', claim }) }, undefined],
  'it is done': [{ task: sampleTask({ status: 'done', blockers: 1 }), open: [sampleTask()] }, undefined],
  'a dependency is open': [
    { task: sampleTask({ blockers: 1 }), open: [sampleTask({ id: 'task-2', description: 'Mix\nit' })] },
    /^It waits for "Mix" \(available\)\.$/,
    /access\.explain \{"task": "task-2"\}/,
  ],
  'another task has its files': [
    { task: sampleTask({ files_wait: 'task-5', retry_at: secondsAfterStart(30) }) },
    /^Waits for files of the task "task-5", at most until 2030-01-01T00:00:30\.000Z\.$/,
    /"task-5" has ended.*"share_files": true/,
  ],
  'its result is being verified': [
    { task: VERIFYING },
    /^Waits for another agent to review it \(any\)\.$/,
    /access\.explain \{"task": "task-6"\}/,
  ],
  'its retry is delayed': [
    { task: sampleTask({ retry_at: secondsAfterStart(30), error: 'No disk' }) },
    /^The last attempt failed: No disk\.$/,
    /:30\.000Z/,
  ],
  'no agent has its capabilities': [
    { task: sampleTask({ required_capabilities: ['rust'] }), candidates: [] },
    /^No agent with rust is registered/,
    /coordination\.register_agent/,
  ],
  'all agents are offline': [
    { candidates: [{ ...ann, availability: 'offline' }] },
    /^Every agent is offline: "ann"\.$/,
    /Start an agent/,
  ],
  'all agents are busy': [{ candidates: [{ ...ann, availability: 'busy' }] }, /^Every agent is busy: "ann"\.$/, /Wait/],
  'only runners of other people are alive': [
    { task: coding, candidates: [ann, agent('bob')] },
    /^The task belongs to Ada, and "ann", "bob" take only tasks of other owners\.$/,
    /key of that person, or .*--for workspace/,
  ],
  'a runner of the owner is alive': [
    { task: coding, candidates: [ann, agent('bob', { owner_uid: 'ada' })] },
    undefined,
  ],
  'a runner for the workspace is alive': [
    { task: coding, candidates: [agent('bob', { serves: 'workspace' })] },
    undefined,
  ],
  'no runner exists': [{ task: coding, candidates: [] }, /^No agent with claude is registered/, /npm run runner/],
  'its parts are open': [
    {
      task: sampleTask({
        status: 'in_progress',
        claim,
        parts_awaited: { agent_id: 'ann', claim_epoch: 1, since: START, failed: ['task-9'] },
      }),
    },
    /^Its parts failed: task-9\.$/,
    /system\.getTree/,
  ],
};

describe('explanation of a task', () => {
  for (const [what, [facts, why, remedy = /./]] of Object.entries(CASES))
    it(`names the cause and the remedy if ${what}`, () => {
      const { waits } = reasons(facts);
      if (why === undefined) return assert.deepEqual(waits, []);
      assert.equal(waits.length, 1);
      assert.match(String(waits[0]?.why), why);
      assert.match(String(waits[0]?.remedy), remedy);
    });

  it('names its state and holder', () =>
    assert.equal(reasons({ task: sampleTask({ status: 'claimed', claim }) }).state, 'The task is claimed by "ann".'));

  it('says that its result is being verified', () =>
    assert.equal(reasons({ task: VERIFYING }).state, 'The task is being verified.'));
});
