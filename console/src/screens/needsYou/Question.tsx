/** Question to the person, and the form to answer it. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { act } from '../../calls/tools.ts';
import type { Request } from '../../live/documents.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { Ago } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf, parameter } from '../../router.ts';
import { SHOWN_QUESTION } from '../../shell/screens.ts';

export function Question({ request }: { readonly request: Request }) {
  const answer = useSignal('');
  const comment = useSignal('');
  const isShown = parameter(SHOWN_QUESTION) === request.id;
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isShown) article.current?.scrollIntoView({ block: 'center' });
  }, [isShown]);
  const said = (text: string) =>
    act(
      'inbox.answer',
      { request_id: request.id, answer: text, ...(comment.value.trim() !== '' && { comment: comment.value.trim() }) },
      z.object({}),
    );
  const choices = request.kind === 'approval' ? ['approve', 'refuse'] : request.options;
  return (
    <article class="question" ref={article} aria-current={isShown ? 'true' : undefined}>
      <p>
        <UserText text={request.question} links />
      </p>
      {request.call !== null && (
        <details>
          <summary>
            What will be done: <code>{request.call.tool}</code>
          </summary>
          <pre>
            <UserText text={pretty(request.call.arguments)} />
          </pre>
        </details>
      )}
      <p class="soft">
        {request.asked_by_agent === null ? 'A person' : <UserText text={request.asked_by_agent} />} asks,{' '}
        <Ago at={request.created_at} />. It ends <Ago at={request.expires_at} />
        {request.default !== null && (
          <>
            {' with the answer '}
            <UserText text={request.default} />
          </>
        )}
        .
        {request.task_id !== null && (
          <>
            {' '}
            <a href={addressOf(['t', request.task_id])}>Its task</a> waits.
          </>
        )}
      </p>
      {request.kind === 'text' && (
        <label>
          Your answer
          <textarea rows={3} value={answer.value} onInput={(event) => (answer.value = event.currentTarget.value)} />
        </label>
      )}
      {request.kind === 'approval' && (
        <label>
          What you want to say with it
          <input value={comment.value} onInput={(event) => (comment.value = event.currentTarget.value)} />
        </label>
      )}
      <p class="acts">
        {request.kind === 'text' ? (
          <ActionButton
            label="Answer"
            kind="primary"
            disabled={answer.value.trim() === ''}
            act={() => said(answer.value)}
          />
        ) : (
          choices.map((choice, index) => (
            <ActionButton
              key={choice}
              label={request.kind === 'approval' ? (choice === 'approve' ? 'Approve' : 'Refuse') : choice}
              kind={index === 0 ? 'primary' : 'plain'}
              act={() => said(choice)}
            />
          ))
        )}
      </p>
    </article>
  );
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    return json;
  }
}
