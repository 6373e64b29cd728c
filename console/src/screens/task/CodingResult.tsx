/** Result of a code task: summary, changed files, diff, commits, check, pull request and usage. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { task as text } from '../../../text/task.ts';
import { Fill } from '../../../ui/Fill.tsx';
import { duration, fill, money, number, plural } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { Meter } from '../../../ui/Meter.tsx';
import { ExternalLink, UserText } from '../../../ui/UserText.tsx';
import { callTool } from '../../calls/tools.ts';
import { useResponse } from '../../calls/useResponse.ts';
import type { Task } from '../../live/documents.ts';
import { Bones } from '../../parts/Bones.tsx';
import { CopyButton } from '../../parts/Copy.tsx';
import { Section, Shown } from '../../parts/Notice.tsx';
import { Name } from '../../parts/Who.tsx';
import { Diff } from './Diff.tsx';

/** Result from a runner. Agents can report any JSON, so all is optional. Source: runner/src/task/report.ts. */
const result = z.catch(
  z.object({
    summary: z.exactOptional(z.string()),
    commits: z._default(z.array(z.object({ sha: z.string(), subject: z.string() })), []),
    diffstat: z.exactOptional(z.object({ files: z.number(), insertions: z.number(), deletions: z.number() })),
    files: z._default(
      z.array(z.object({ path: z.string(), insertions: z.nullable(z.number()), deletions: z.nullable(z.number()) })),
      [],
    ),
    diff: z.exactOptional(z.string()),
    /** Longer than `diff`, for reviewers. */
    patch: z.exactOptional(z.string()),
    pullRequest: z.exactOptional(z.object({ number: z.number(), url: z.nullable(z.string()) })),
    acceptance: z.exactOptional(z.object({ command: z.string(), exitCode: z.exactOptional(z.number()) })),
    turns: z.exactOptional(z.number()),
    costUsd: z.exactOptional(z.number()),
    durationMs: z.exactOptional(z.number()),
    repository: z.exactOptional(z.string()),
  }),
  { commits: [], files: [] },
);
type Brought = z.output<typeof result>;

const report = z.object({ result: z.object({ result: z.exactOptional(result) }) });

function fetchLine(branch: string): string | undefined {
  return /^[\w./-]+$/.test(branch) && !branch.startsWith('-') ? `git fetch origin ${branch}` : undefined;
}

export function CodingResult({ task }: { readonly task: Task }) {
  const ask = () => callTool('coding.report_task', { taskId: task.id }, report);
  const { live } = useResponse(task.id, ask, `${task.status} ${task.coding?.result?.claim_epoch}`);
  const brought = 'value' in live ? live.value.result.result : undefined;
  return (
    <Section title={text.result} isCard actions={brought && <Head of={brought} />}>
      <Shown live={live} what={text.result.toLowerCase()} bones={<Bones />}>
        {() => (brought === undefined ? <p class="row soft">{text.noResult}</p> : <Whole task={task} of={brought} />)}
      </Shown>
    </Section>
  );
}

/** Outcome of the acceptance command, which a signal may have ended, and the pull request. */
function Head({ of: { acceptance, pullRequest } }: { readonly of: Brought }) {
  return (
    <>
      {acceptance !== undefined && (
        <span class={`tag ${acceptance.exitCode === 0 ? 'good' : 'bad'}`}>
          <Icon of={acceptance.exitCode === 0 ? 'check' : 'cross'} small />
          <UserText text={checkWords(acceptance)} limit={80} />
        </span>
      )}
      {pullRequest !== undefined && (
        <span class="named">
          <Icon of="pull" small />
          <ExternalLink address={pullRequest.url ?? ''}>
            {fill(text.pullRequest, { n: pullRequest.number })}
          </ExternalLink>
        </span>
      )}
    </>
  );
}

function checkWords({ command, exitCode }: NonNullable<Brought['acceptance']>): string {
  if (exitCode === 0) return fill(text.checkPassed, { command });
  return exitCode === undefined
    ? fill(text.checkInterrupted, { command })
    : fill(text.checkFailed, { command, n: exitCode });
}

interface WholeProps {
  readonly task: Task;
  readonly of: Brought;
}

function Whole({ task, of }: WholeProps) {
  const { summary, diffstat, files, commits, turns, costUsd, durationMs, repository } = of;
  const diff = of.patch ?? of.diff;
  const isOpen = useSignal(false);
  const fetched = task.coding === null ? undefined : fetchLine(task.coding.branch);
  const most = Math.max(1, ...files.map(({ insertions, deletions }) => (insertions ?? 0) + (deletions ?? 0)));
  const usage = [
    durationMs === undefined ? undefined : duration(durationMs),
    turns === undefined ? undefined : plural(turns, text.turns),
    costUsd === undefined ? undefined : money(costUsd),
  ].filter((one) => one !== undefined);
  return (
    <>
      {summary !== undefined && (
        <div class="row">
          <p class="lines">
            <UserText text={summary} links />
          </p>
        </div>
      )}
      <table class="diff">
        <tbody>
          {commits.map(({ sha, subject }) => (
            <tr key={sha}>
              <td colSpan={2}>
                <code class="faint">
                  <UserText text={sha.slice(0, 8)} />
                </code>{' '}
                <UserText text={subject} limit={200} />
              </td>
            </tr>
          ))}
          {files.map(({ path, insertions, deletions }) => (
            <tr key={path}>
              <td>
                <code>
                  <UserText text={path} />
                </code>
              </td>
              <td class="right num">
                <Changes insertions={insertions ?? 0} deletions={deletions ?? 0} />{' '}
                <Meter
                  fine
                  parts={[
                    ['good', (insertions ?? 0) / most],
                    ['bad', (deletions ?? 0) / most],
                  ]}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {diff !== undefined && (
        <div class="row">
          <button
            type="button"
            class="b small"
            aria-expanded={isOpen.value}
            onClick={() => (isOpen.value = !isOpen.value)}>
            <Icon of="code" small />
            {isOpen.value ? text.hideDiff : text.showDiff}
          </button>
        </div>
      )}
      {diff !== undefined && isOpen.value && <Diff of={diff} />}
      <p class="row line">
        {repository !== undefined ? (
          <span class="soft">
            <Fill
              text={text.notPushed}
              with={{
                agent: <Name id={task.claimed_by ?? ''} />,
                repository: (
                  <code>
                    <UserText text={repository} />
                  </code>
                ),
              }}
            />
          </span>
        ) : (
          fetched !== undefined && (
            <>
              <code>{fetched}</code>
              <CopyButton text={fetched} what={text.command} />
            </>
          )
        )}
        {diffstat !== undefined && (
          <span class="soft num nowrap push">
            {`${plural(diffstat.files, text.files)} `}
            <Changes insertions={diffstat.insertions} deletions={diffstat.deletions} />
          </span>
        )}
      </p>
      {usage.length > 0 && <p class="row soft">{usage.join(' · ')}</p>}
    </>
  );
}

function Changes({ insertions, deletions }: { readonly insertions: number; readonly deletions: number }) {
  return (
    <>
      <span class="plus">{`+${number(insertions)}`}</span> <span class="minus">{`−${number(deletions)}`}</span>
    </>
  );
}
