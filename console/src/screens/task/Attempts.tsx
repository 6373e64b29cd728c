/** Previous attempts of a task, and their outcomes. */
import type { Task } from '../../live/documents.ts';
import { Card } from '../../parts/Notice.tsx';
import { Ago, Status } from '../../parts/Status.tsx';
import { Words } from '../../parts/Words.tsx';

export function Attempts({ task }: { readonly task: Task }) {
  const attempts = task.coding?.attempts ?? [];
  const whole = attempts.length + task.former_ends.length + task.lapsed_claims.length;
  if (whole === 0) return null;
  return (
    <Card title="Before this" count={whole}>
      <ol class="plain rows">
        {task.lapsed_claims.map((claim) => (
          <li key={`lapsed ${claim.claim_epoch}`}>
            Claim {claim.claim_epoch} of <Words text={claim.agent_id} /> lapsed: it was not heard of in time.
          </li>
        ))}
        {task.former_ends.map((end) => (
          <li key={`ended ${end.ended_at.getTime()}`}>
            <Status of={end.status} /> <Ago at={end.ended_at} />
            {end.agent_id !== null && (
              <>
                {' by '}
                <Words text={end.agent_id} />
              </>
            )}
            {end.error !== null && (
              <p class="soft">
                <Words text={end.error} most={1000} />
              </p>
            )}
          </li>
        ))}
        {attempts.map((attempt) => (
          <li key={`attempt ${attempt.claim_epoch}`}>
            Attempt {attempt.claim_epoch} of <Words text={attempt.agent_id} /> failed{' '}
            <Ago at={attempt.ended_at} />:{' '}
            <span class="tag">{attempt.failure.class.replaceAll('_', ' ')}</span>
            <p class="soft">
              <Words text={attempt.failure.message} most={1000} />
            </p>
            {attempt.commits.map((commit) => (
              <p key={commit.sha}>
                <code>
                  <Words text={commit.sha.slice(0, 8)} />
                </code>{' '}
                <Words text={commit.subject} />
              </p>
            ))}
          </li>
        ))}
      </ol>
    </Card>
  );
}
