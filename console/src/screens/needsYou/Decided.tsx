import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import type { Request } from '../../live/documents.ts';
import { decisionOf } from './decision.ts';

/** Outcome of a question, with the comment of the person and the outcome of the call. */
export function Decided({ request }: { readonly request: Request }) {
  const decision = decisionOf(request);
  if (decision === undefined) return null;
  const { words, isGood, call } = decision;
  return (
    <>
      <Icon of={isGood ? 'check' : 'stop'} class={isGood ? 'good' : ''} />
      <UserText text={words} limit={200} />
      {request.comment !== null && (
        <span class="soft">
          <UserText text={request.comment} limit={300} />
        </span>
      )}
      {call !== undefined && <UserText text={call} limit={300} />}
    </>
  );
}
