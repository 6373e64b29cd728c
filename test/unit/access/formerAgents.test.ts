/** An agent as versions stored it that knew one workspace for each, and one part in it. */
import assert from 'node:assert/strict';
import { agentFromDocument, agentToDocument } from '../../../functions/src/access/store/agents.ts';
import { asRead, storedVersions } from '../../stored/documents.ts';

const before = storedVersions('firestore', 'agents').filter(({ version }) => version <= 3);

describe('an agent of a version before', () => {
  for (const { version, documents } of before)
    it(`keeps the part that it had, in version ${version}`, () => {
      const stored = Object(asRead(documents['plain']));
      const led = agentFromDocument({ ...stored, workspace: 'alpha', coordination_role: 'leader' });
      assert.deepEqual(led.parts, { alpha: 'leader' });
      assert.deepEqual(agentToDocument(led)['leads'], ['alpha']);
      assert.deepEqual(agentFromDocument({ ...stored, coordination_role: null }).parts, {});
    });

  it('goes by its parts as soon as it has some, whatever the field of before says', () => {
    const stored = Object(asRead(before.at(-1)?.documents['plain']));
    const parts = { beta: 'worker' };
    const agent = agentFromDocument({ ...stored, workspace: 'alpha', coordination_role: 'leader', parts });
    assert.deepEqual(agent.parts, parts);
  });
});
