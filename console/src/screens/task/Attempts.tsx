/** Previous attempts of a task, and their outcomes. */
import type { Task } from '../../live/documents.ts';
import { Card } from '../../parts/Notice.tsx';
import { Ago, Status } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';

export function Attempts({ task }: { readonly task: Task }) {
  const attempts = task.coding?.attempts ?? [];
  const whole = attempts.length + task.former_ends.length + task.lapsed_claims.length;
  if (whole === 0) return null;
  return (
    <Card title="Before this" count={whole}>
      <ol class="plain rows">
        {task.lapsed_claims.map((claim) => (
          <li key={`lapsed ${claim.claim_epoch}`}>
            Claim {claim.claim_epoch} of <UserText text={claim.agent_id} />{' '}
            {claim.released ? 'was released on request.' : 'lapsed: it was not heard of in time.'}
          </li>
        ))}
        {task.former_ends.map((end) => (
          <li key={`ended ${end.ended_at.getTime()}`}>
            <Status of={end.status} /> <Ago at={end.ended_at} />
            {end.agent_id !== null && (
              <>
                {' by '}
                <UserText text={end.agent_id} />
              </>
            )}
            {end.error !== null && (
              <p class="soft">
                <UserText text={end.error} limit={1000} />
              </p>
            )}
          </li>
        ))}
        {attempts.map((attempt) => (
          <li key={`attempt ${attempt.claim_epoch}`}>
            Attempt {attempt.claim_epoch} of <UserText text={attempt.agent_id} /> failed <Ago at={attempt.ended_at} />:{' '}
            <span class="tag">{attempt.failure.class.replaceAll('_', ' ')}</span>
            <p class="soft">
              <UserText text={attempt.failure.message} limit={1000} />
            </p>
            {attempt.commits.map((commit) => (
              <p key={commit.sha}>
                <code>
                  <UserText text={commit.sha.slice(0, 8)} />
                </code>{' '}
                <UserText text={commit.subject} />
              </p>
            ))}
          </li>
        ))}
      </ol>
    </Card>
  );
}
