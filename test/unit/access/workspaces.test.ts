import assert from 'node:assert/strict';
import { firstWorkspaceChanges } from '../../../functions/src/access/rules/workspaces.ts';

describe('a new workspace', () => {
  it('gets its first member before its name, so that no one reads a name without a member', () => {
    const ada = { uid: 'ada', owner_uid: 'ada' };
    const changes = firstWorkspaceChanges(ada, 'alpha', 'private', new Date());
    assert.deepEqual(
      changes.map(({ kind }) => kind),
      ['setMember', 'nameWorkspace'],
    );
  });
});
