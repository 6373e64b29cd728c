/** Redirects a person without a role in the default workspace to a workspace in which they have a role. */
import { useEffect } from 'preact/hooks';
import { ask, DEFAULT_WORKSPACE, workspace } from '../router.ts';
import { isListed, memberships } from './memberships.ts';

export function useWorkspaceWithRole(): void {
  const known = memberships.value;
  const here = workspace.value;
  useEffect(() => {
    if (typeof known !== 'object' || here !== DEFAULT_WORKSPACE || isListed(known, here)) return;
    const target = known.joined ?? known.own[0];
    if (target !== undefined) ask('workspace', target);
  }, [known, here]);
}
