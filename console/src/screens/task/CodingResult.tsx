/** Result of a coding task: commits, diff size, acceptance command, pull request, and usage. */
import { z } from 'zod/mini';
import { callTool } from '../../calls/tools.ts';
import { useResponse } from '../../calls/useResponse.ts';
import type { Task } from '../../live/documents.ts';
import { duration } from '../../parts/dates.ts';
import { Card, Shown } from '../../parts/Notice.tsx';
import { ExternalLink, UserText } from '../../parts/UserText.tsx';

/** Result from a runner. Agents can report any JSON, so all is optional. Source: runner/src/task/report.ts. */
const result = z.catch(
  z.object({
    summary: z.exactOptional(z.string()),
    commits: z._default(z.array(z.object({ sha: z.string(), subject: z.string() })), []),
    diffstat: z.exactOptional(z.object({ files: z.number(), insertions: z.number(), deletions: z.number() })),
    pullRequest: z.exactOptional(z.object({ number: z.number(), url: z.nullable(z.string()) })),
    acceptance: z.exactOptional(z.object({ command: z.string(), exitCode: z.exactOptional(z.number()) })),
    turns: z.exactOptional(z.number()),
    costUsd: z.exactOptional(z.number()),
    durationMs: z.exactOptional(z.number()),
    repository: z.exactOptional(z.string()),
  }),
  { commits: [] },
);

const report = z.object({ result: z.object({ result: z.exactOptional(result) }) });

function fetchLine(branch: string): string | undefined {
  return /^[\w./-]+$/.test(branch) && !branch.startsWith('-') ? `git fetch origin ${branch}` : undefined;
}

export function CodingResult({ task }: { readonly task: Task }) {
  const ask = () => callTool('coding.report_task', { taskId: task.id }, report);
  const { live } = useResponse(task.id, ask, `${task.status} ${task.coding?.result?.claim_epoch}`);
  const fetched = task.coding === null ? undefined : fetchLine(task.coding.branch);
  return (
    <Card title="What it brought">
      <Shown live={live}>
        {({ result: { result: brought } }) =>
          brought === undefined ? (
            <p class="soft">Nothing that is kept.</p>
          ) : (
            <>
              <ResultSummary of={brought} />
              {brought.repository !== undefined ? (
                <p>
                  The branch was not pushed. It is only on the machine of the runner{' '}
                  <UserText text={task.claimed_by ?? ''} />, in{' '}
                  <code>
                    <UserText text={brought.repository} />
                  </code>
                  .
                </p>
              ) : (
                fetched !== undefined && (
                  <p>
                    <code>{fetched}</code>
                  </p>
                )
              )}
            </>
          )
        }
      </Shown>
    </Card>
  );
}

function ResultSummary({ of }: { readonly of: z.output<typeof result> }) {
  const { summary, diffstat, commits, acceptance, pullRequest, turns, costUsd, durationMs } = of;
  const took = [
    turns === undefined ? undefined : `${turns} turns`,
    costUsd === undefined ? undefined : `$${costUsd.toFixed(2)}`,
    durationMs === undefined ? undefined : duration(durationMs),
  ].filter((one) => one !== undefined);
  return (
    <>
      {summary !== undefined && (
        <pre class="text">
          <UserText text={summary} links />
        </pre>
      )}
      {diffstat !== undefined && (
        <p>
          {`${diffstat.files} files, `}
          <ins>{`+${diffstat.insertions}`}</ins> <del>{`−${diffstat.deletions}`}</del>
        </p>
      )}
      {commits.map((commit) => (
        <p key={commit.sha}>
          <code>
            <UserText text={commit.sha.slice(0, 8)} />
          </code>{' '}
          <UserText text={commit.subject} limit={200} />
        </p>
      ))}
      {acceptance !== undefined && <Checked {...acceptance} />}
      {pullRequest !== undefined && (
        <p>
          <ExternalLink address={pullRequest.url ?? ''}>{`Pull request #${pullRequest.number}`}</ExternalLink>
        </p>
      )}
      {took.length > 0 && <p class="soft">It took {took.join(', ')}.</p>}
    </>
  );
}

/** Outcome of the acceptance command, which a signal may have ended. */
function Checked({ command, exitCode }: { readonly command: string; readonly exitCode?: number }) {
  const how = exitCode === 0 ? 'passed.' : exitCode === undefined ? 'was interrupted.' : `ended with ${exitCode}.`;
  return (
    <p class={exitCode === 0 ? undefined : 'error'}>
      Its check{' '}
      <code>
        <UserText text={command} />
      </code>{' '}
      {how}
    </p>
  );
}
