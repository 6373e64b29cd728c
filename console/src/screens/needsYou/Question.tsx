/** A question or a request for approval, and the answer to it. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { needsYou as text } from '../../../text/needsYou.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { duration, fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import type { IconName } from '../../../ui/icons.ts';
import { UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import { type Request, requestDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { request as requestQuery } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { now } from '../../live/time.ts';
import { ActionButton } from '../../parts/acting.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { Ago, Until } from '../../parts/Time.tsx';
import { TaskTitle } from '../../parts/Title.tsx';
import { Who } from '../../parts/Who.tsx';
import { parameter } from '../../router.ts';
import { SHOWN_QUESTION } from '../../shell/screens.ts';
import { Decided } from './Decided.tsx';
import { APPROVE, REFUSE } from './decision.ts';
import { CHANGEABLE_MS } from './recent.ts';

const Verdict = lazy(async () => (await import('./Verdict.tsx')).Verdict);
const CallFields = lazy(async () => (await import('./CallFields.tsx')).CallFields);

/** @param asked the listed question; this component listens to it, because closed questions leave the list */
export function Question({ request: asked }: { readonly request: Request }) {
  const live = useLive(document(requestQuery(asked.id), requestDocument));
  const request = ('value' in live ? live.value : undefined) ?? asked;
  const isShown = parameter(SHOWN_QUESTION) === request.id;
  const article = useRef<HTMLElement>(null);
  const isChanging = useSignal(false);
  useEffect(() => {
    if (isShown) article.current?.scrollIntoView({ block: 'center' });
  }, [isShown]);
  const { words, icon, tone } = looksOf(request);
  const isOpen = request.state === 'open' || isChanging.value;
  return (
    <article class="item" ref={article} aria-current={isShown ? 'true' : undefined}>
      <span class={`tile-i ${tone}`}>
        <Icon of={icon} />
      </span>
      <div class="words">
        <p class="meta">
          <span class="named">
            <Fill text={words} with={{ agent: <Who id={request.asked_by_agent ?? request.asked_by} /> }} />
          </span>
          <Ago at={request.created_at} />
        </p>
        <h3>
          <UserText text={request.question} links />
        </h3>
        <p class="meta">
          {request.task_id !== null && (
            <span>
              <Fill text={text.neededFor} with={{ task: <TaskTitle id={request.task_id} /> }} />
            </span>
          )}
          {request.call !== null && (
            <span>
              <Fill text={text.runs} with={{ tool: <code>{request.call.tool}</code> }} />
            </span>
          )}
          {request.state === 'open' && <Expiry request={request} />}
        </p>
      </div>
      {isOpen ? (
        <Answering request={request} answered={() => (isChanging.value = false)} />
      ) : (
        <Answered request={request} change={() => (isChanging.value = true)} />
      )}
    </article>
  );
}

interface Looks {
  readonly words: string;
  readonly icon: IconName;
  readonly tone: string;
}

function looksOf({ kind, proves }: Request): Looks {
  if (proves !== null) return { words: text.proves, icon: 'is-verifying', tone: 'wait' };
  if (kind === 'approval') return { words: text.requests, icon: 'approve', tone: 'lead' };
  return { words: text.asks, icon: 'question', tone: 'wait' };
}

function Expiry({ request: { default: answer, expires_at } }: { readonly request: Request }) {
  return answer === null ? (
    <span>
      <Fill text={text.expires} with={{ time: <Until at={expires_at} /> }} />
    </span>
  ) : (
    <span>
      <Fill text={text.defaults} with={{ answer: <UserText text={answer} />, time: <Until at={expires_at} /> }} />
    </span>
  );
}

interface AnsweringProps {
  readonly request: Request;
  answered(): void;
}

function Answering({ request, answered }: AnsweringProps) {
  const answer = useSignal('');
  const note = useSignal('');
  const isNoting = useSignal(false);
  // People see what they approve, unless they fold it.
  const isDetailed = useSignal(true);
  const say = async (words: string) => {
    const comment = note.value.trim();
    const args = { request_id: request.id, answer: words, ...(comment !== '' && { comment }) };
    await act('inbox.answer', args, z.object({}));
    answered();
  };
  if (request.proves !== null) return <Verdict request={request} taskId={request.proves.task_id} />;
  if (request.kind === 'text') {
    return (
      <div class="stack">
        <TextField label={text.answer} of={answer} isLong />
        <p class="acts">
          <ActionButton
            kind="primary"
            label={text.send}
            disabled={answer.value.trim() === ''}
            act={() => say(answer.value)}
          />
        </p>
      </div>
    );
  }
  return (
    <div class="stack">
      {isDetailed.value && request.call !== null && <CallFields call={request.call} />}
      {isNoting.value && <TextField label={text.note} of={note} />}
      <p class="acts">
        {request.kind === 'approval' ? (
          <>
            <ActionButton kind="primary" label={text.approve} act={() => say(APPROVE)} />
            <ActionButton label={text.decline} act={() => say(REFUSE)} />
          </>
        ) : (
          request.options.map((option) => <ActionButton key={option} label={option} act={() => say(option)} />)
        )}
        {!isNoting.value && (
          <button type="button" class="b quiet" onClick={() => (isNoting.value = true)}>
            {text.addNote}
          </button>
        )}
        {request.call !== null && (
          <button
            type="button"
            class="b quiet"
            aria-expanded={isDetailed.value}
            onClick={() => (isDetailed.value = !isDetailed.value)}>
            {isDetailed.value ? text.hideDetails : text.showDetails}
          </button>
        )}
      </p>
    </div>
  );
}

interface AnsweredProps {
  readonly request: Request;
  change(): void;
}

/** The answer. For a minute, the person can change an answer that has run nothing. */
function Answered({ request, change }: AnsweredProps) {
  const { state, settled_at, call, answered_by_agent: agent, delivered_at: delivered } = request;
  const left = (settled_at?.getTime() ?? 0) + CHANGEABLE_MS - now.value;
  const isChangeable =
    call === null &&
    request.proves === null &&
    agent === null &&
    delivered === undefined &&
    state === 'answered' &&
    left > 0;
  return (
    <p class="acts soft" role="status">
      <Decided request={request} />
      {isChangeable && (
        <>
          <button type="button" class="b quiet small" onClick={change}>
            {text.change}
          </button>
          <span class="faint">{fill(text.changeFor, { time: duration(left) })}</span>
        </>
      )}
    </p>
  );
}
