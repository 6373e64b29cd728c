import assert from 'node:assert/strict';
import fc from 'fast-check';
import { claimableKeys, TaskClaims } from '../../../functions/src/toolsets/coordination/rules/claims.ts';
import { capabilityKey, satisfiedKeys } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { START, sampleAgent, sampleSession, versionOf } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { inRuns } from '../../support/properties.ts';

const session = sampleSession({ capability_keys: ['python', 'python|testing', 'rust'] });
const NONE = { items: [], more: false };

describe('claim of a task', () => {
  for (const { capabilities, runner, serves = 'owner', keys, part } of [
    { capabilities: ['Python'], keys: ['', 'python'], part: {} },
    { capabilities: ['python', 'testing'], keys: ['', 'python', 'python|testing'], part: {} },
    {
      capabilities: ['rust'],
      runner: { project: undefined },
      keys: ['rust'],
      part: { type: 'coding', owner: 'person' },
    },
    {
      capabilities: ['rust'],
      runner: { project: undefined },
      serves: 'workspace' as const,
      keys: ['rust'],
      part: { type: 'coding' },
    },
  ])
    it(`queries the tasks for ${capabilities.join(' and ')}${runner ? ` as a runner of its ${serves}` : ''}`, async () => {
      const asked: unknown[] = [];
      const agent = sampleAgent({
        capability_details: capabilities.map((name) => ({ name, category: 'declared' })),
        serves,
      });
      const claims = new TaskClaims(
        portsOf<ConstructorParameters<typeof TaskClaims>[0]>({
          sessions: {
            currentWithAgent: async () => ({
              open: { session, readAt: '1.0' },
              agent: versionOf(agent),
              growth: '1.0',
            }),
          },
          tasks: {
            claimable: async (of, satisfied, _limit, only) => {
              asked.push([of, satisfied, only]);
              return [];
            },
            firstBackoff: async () => undefined,
          },
          messages: { unread: async () => [] },
          queue: { list: async () => NONE },
          store: { commit: async () => undefined },
          clock: { now: () => START },
          randomness: {},
          writtenTasks: new Map(),
        }),
      );
      const request = {
        workspace: 'alpha',
        agentId: agent.id,
        leaseSeconds: 60,
        by: { uid: 'me' },
        ...(runner && { runner }),
      };
      const { kind } = await claims.claim(request, () => undefined);
      assert.equal(kind, 'none');
      assert.deepEqual(asked, [['session-1', keys, part]]);
    });
});

describe('capabilities that coding tasks require', () => {
  it('are included in the queries of a claim even if the session does not list them', () => {
    const others = ['project:a/b', 'Project:c/d', 'rust', 'claude2', 'agent:my-agent', 'agent:a|b'];
    const isCodingKey = (key: string) => /^(claude|codex|agent:my_agent)(\|project:[^|]*)?$/.test(key);
    const name = fc.constantFrom('Claude', 'codex', 'Agent:My_agent', ...others);
    inRuns(1000).forAll(fc.array(name, { maxLength: 4 }), fc.array(name, { maxLength: 3 }), (has, required) => {
      const key = capabilityKey(required);
      const isFound = claimableKeys({ capability_keys: [] }, has).includes(key);
      const can = satisfiedKeys([key], has).includes(key);
      assert.equal(isFound, key === '' || (isCodingKey(key) && can));
    });
  });
});
