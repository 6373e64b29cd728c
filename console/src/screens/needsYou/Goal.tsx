/** The goal of the workspace, with its progress and cost. */
import { common } from '../../../text/common.ts';
import { needsYou as text } from '../../../text/needsYou.ts';
import { fill, money, number, percent } from '../../../ui/format.ts';
import { Meter, type Tone } from '../../../ui/Meter.tsx';
import { stateName } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { type SessionScope, useBlockedTasks, useCounts, useSession, useStuckTasks } from '../../live/coordination.ts';
import type { Counts } from '../../live/states.ts';
import { ActionButton, tell } from '../../parts/acting.tsx';
import { lazy } from '../../parts/lazy.tsx';
import { Empty, Section, Shown } from '../../parts/Notice.tsx';
import { useWorkspaceTotals } from '../../parts/workspaceTotals.ts';
import { addressOf, DEFAULT_WORKSPACE } from '../../router.ts';
import { connection } from '../../session/session.ts';
import { mayAs } from '../../shell/role.ts';

const NewGoal = lazy(async () => (await import('../tasks/NewGoal.tsx')).NewGoal);

export function NoGoal({ here }: { readonly here: string }) {
  const { address } = connection().deployment;
  // A shell would expand the question mark.
  const url = here === DEFAULT_WORKSPACE ? address : `"${address}?workspace=${encodeURIComponent(here)}"`;
  const command = `claude mcp add --transport http muster ${url}`;
  return (
    <Section title={text.goal} isCard>
      <Empty icon="flag" title={text.noGoal} hint={text.noGoalHint}>
        <code class="block">{command}</code>
        <ActionButton
          icon="copy"
          label={text.copyCommand}
          act={async () => {
            await navigator.clipboard.writeText(command);
            tell(common.copied);
          }}
        />
        {mayAs('leader') && <NewGoal kind="primary" />}
      </Empty>
    </Section>
  );
}

/** Groups of states in the bar, each with its color. */
const GROUPS: readonly (readonly [tone: Tone, states: readonly string[]])[] = [
  ['good', ['done']],
  ['busy', ['in_progress', 'claimed']],
  ['wait', ['waiting']],
  ['idle', ['available', 'blocked', 'never', 'cancelled']],
  ['bad', ['failed']],
];

export function Goal({ where }: { readonly where: SessionScope }) {
  const session = useSession(where);
  const counted = useCounts(where);
  const { count: blocked = 0 } = useBlockedTasks(where);
  const { count: stuck = 0 } = useStuckTasks(where);
  const { own: budget } = useWorkspaceTotals(where.here, 'value' in counted ? JSON.stringify(counted.value) : '');
  const counts = 'value' in counted ? separated(counted.value, blocked, stuck) : {};
  const whole = sumOf(
    counts,
    GROUPS.flatMap(([, states]) => states),
  );
  const done = counts['done'] ?? 0;
  const share = (states: readonly string[]) => (whole === 0 ? 0 : sumOf(counts, states) / whole);
  const words = (state: string) => `${number(counts[state] ?? 0)} ${nameOf(state)}`;
  return (
    <section class="card goal" aria-label={text.goal}>
      <Shown live={session} what={text.goal.toLowerCase()}>
        {(value) => (
          <div>
            <p class="eyebrow">{text.goal}</p>
            <h2>
              <UserText text={value?.goal || text.noGoal} limit={300} />
            </h2>
            {!value?.goal && mayAs('leader') && <NewGoal />}
          </div>
        )}
      </Shown>
      <p class="big">
        <a href={addressOf(['tasks'])}>
          {number(done)}
          <span class="faint">{fill(text.ofDone, { n: number(whole) })}</span>
        </a>
      </p>
      {whole === 0 ? (
        <p class="soft">{text.noTasks}</p>
      ) : (
        <>
          <Meter
            parts={GROUPS.map(([tone, states]) => [tone, share(states)])}
            label={`${percent(done / whole)}: ${fill(text.done, { done: number(done), n: number(whole) })}`}
          />
          <ul class="legend">
            {GROUPS.map(([tone, states]) => {
              const present = states.filter((state) => (counts[state] ?? 0) > 0);
              if (present.length === 0) return null;
              return (
                <li key={tone}>
                  <span class={`key f-${tone}`} />
                  {present.map(words).join(', ')}
                </li>
              );
            })}
            {budget?.limit.money !== undefined && (
              <li class="push">
                {fill(text.spent, { spent: money(budget.spent.money ?? 0), limit: money(budget.limit.money) })}
              </li>
            )}
          </ul>
        </>
      )}
    </section>
  );
}

/** The counter of waiting tasks includes those that are being verified. */
const nameOf = (state: string) => (state === 'waiting' ? text.verifiedOrWaiting : stateName(state).toLowerCase());

const sumOf = (counts: Counts, states: readonly string[]): number =>
  states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);

/** Separates blocked and stuck tasks, which the counters of the session count as available. */
function separated(counts: Counts, blocked: number, stuck: number): Counts {
  const waiting = Math.max(0, blocked - stuck);
  return {
    ...counts,
    never: stuck,
    blocked: waiting,
    available: Math.max(0, (counts['available'] ?? 0) - waiting - stuck),
  };
}
