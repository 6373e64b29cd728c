/** Keeps listeners and token up to date with the person's rights. */
import { useEffect, useRef } from 'preact/hooks';
import type { PersonRights } from '../live/documents.ts';
import { relisten } from '../live/live.ts';
import { renewToken } from '../session/session.ts';
import { fetchMemberships } from './memberships.ts';

/**
 * The rules use both the person's stored rights and the token. If the stored rights change, access may have changed
 * in either direction. Restarted listeners read everything again, so they restart only after such a change.
 * @param rights the person's stored rights; undefined until known
 */
export function useRights(rights: Partial<PersonRights> | undefined): void {
  const known = rights && JSON.stringify(rights);
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    const isChange = before.current !== undefined && known !== undefined;
    before.current = known ?? before.current;
    if (isChange) void renewToken().then(changed, changed);
  }, [known]);
}

function changed(): void {
  relisten();
  void fetchMemberships();
}
