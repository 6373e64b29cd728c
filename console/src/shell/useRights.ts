/** Keeps what the page listens to, and its token, in step with what the person may do. */
import { useEffect, useRef } from 'preact/hooks';
import type { PersonRights } from '../live/documents.ts';
import { listenAnew } from '../live/live.ts';
import { renewToken } from '../session/session.ts';
import { askStanding } from './standing.ts';

/**
 * The rules go by what is stored of the person, and by the token. When the one changes, the other may have, and what was
 * refused may be open, or the other way round. To listen anew reads everything again, so nothing else leads to it.
 * @param rights what is stored of the person; undefined until it is known
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
  listenAnew();
  void askStanding();
}
