/** Link from a task to the question that the signed-in person must answer for it. */
import { requestDocument } from '../live/documents.ts';
import { useLive } from '../live/live.ts';
import { pageOf } from '../live/paged.ts';
import { requestsTo } from '../live/queries.ts';
import { addressOf } from '../router.ts';
import { ownUid } from '../session/session.ts';
import { SHOWN_QUESTION } from '../shell/screens.ts';

/** Returns whether a question waits for the signed-in person. The number in the navigation reads the same list. */
export function useIsAsked(id: string | undefined): boolean {
  const open = useLive(pageOf(requestsTo(ownUid() ?? ''), requestDocument));
  return 'value' in open && open.value.rows.some((one) => one.id === id);
}

export function QuestionLink({ id, words }: { readonly id: string; readonly words: string }) {
  return (
    <a class="link" href={addressOf([], { [SHOWN_QUESTION]: id })}>
      {words}
    </a>
  );
}
