/** Attempts of a task, newest first, with the present one. Two can be compared side by side. */
import { useSignal } from '@preact/signals';
import { task as text } from '../../../text/task.ts';
import { fill, timeOfDay } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { iconOf } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import type { Task } from '../../live/documents.ts';
import { Section } from '../../parts/Notice.tsx';
import { Ago } from '../../parts/Time.tsx';
import { Who } from '../../parts/Who.tsx';
import { type Attempt, attemptsOf } from './attempts.ts';

export function Attempts({ task }: { readonly task: Task }) {
  const attempts = attemptsOf(task);
  const isCompared = useSignal(false);
  const [latest] = attempts;
  // A single attempt without trouble is what the rest of the page shows.
  if (attempts.length < 2 && latest?.end !== 'failed' && latest?.reason === undefined) return null;
  const actions = attempts.length > 1 && (
    <button
      type="button"
      class="b quiet small"
      aria-pressed={isCompared.value}
      onClick={() => (isCompared.value = !isCompared.value)}>
      <Icon of="board" small />
      {text.sideBySide}
    </button>
  );
  return (
    <Section title={text.attempts} count={attempts.length} actions={actions}>
      <ol class={isCompared.value ? 'compared' : 'steps'}>
        {attempts.map((attempt) => (
          <li key={attempt.key} class={isCompared.value ? 'card pad' : ''}>
            <span class={`state ${TONES[attempt.end] ?? ''}`}>
              <Icon of={iconOf(attempt.end)} />
            </span>
            <AttemptWords attempt={attempt} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

const TONES: Readonly<Record<string, string>> = {
  done: 'done',
  failed: 'failed',
  in_progress: 'progress',
  claimed: 'progress',
  waiting: 'waiting',
  verifying: 'verifying',
};

function AttemptWords({ attempt }: { readonly attempt: Attempt }) {
  const { number, agentId, from, to, reason, message, commits } = attempt;
  return (
    <div class="stack">
      <p class="line">
        <b>{fill(text.attempt, { n: number })}</b>
        {agentId !== null && <Who id={agentId} />}
        <span class="soft">
          {from !== undefined && `${timeOfDay(from)} – `}
          {to !== undefined ? <Ago at={to} /> : from !== undefined && text.now}
        </span>
        {reason !== undefined && <span class="tag bad">{text.reasons[reason] ?? reason.replaceAll('_', ' ')}</span>}
      </p>
      {message !== undefined && (
        <p class="soft">
          <UserText text={message} limit={1000} />
        </p>
      )}
      {commits.map(({ sha, subject }) => (
        <p key={sha} class="line">
          <code class="faint">
            <UserText text={sha.slice(0, 8)} />
          </code>
          <span>
            <UserText text={subject} limit={200} />
          </span>
        </p>
      ))}
    </div>
  );
}
