/** What an attempt came to, as end_task and report_task have it. Source: docs/guides/runner.md, "The report". */
import type { Changes } from '../git/changes.ts';
import type { Exit } from '../process/program.ts';
import type { Json } from '../redaction.ts';
import type { Acceptance } from './acceptance.ts';
import type { AgentWork } from './transcript.ts';

export interface Report {
  readonly branch: string;
  readonly base: string;
  readonly changes: Changes | undefined;
  readonly work: AgentWork | undefined;
  readonly exit: Exit | undefined;
  readonly acceptance: Acceptance | undefined;
  readonly pullRequest: { readonly number: number; readonly url?: string | undefined } | undefined;
  /** What was asked for beside the work and did not come. */
  readonly warnings: readonly string[];
  /** The path of a worktree that stays. */
  readonly worktree: string | undefined;
  readonly durationMs: number;
}

/** Far below the 1 MiB that the hub takes: every list in it has an end of its own. */
export function reportJson(report: Report): Json {
  const { changes, work, exit, acceptance, pullRequest, warnings } = report;
  return {
    summary: work?.summary ?? '',
    branch: report.branch,
    base: report.base,
    ...(changes && {
      head: changes.head,
      commits: changes.commits.map((commit) => ({ ...commit })),
      diffstat: { ...changes.diffstat },
      files: changes.files.map((file) => ({ ...file })),
    }),
    ...(work && {
      commands: [...work.commands],
      tools: { ...work.tools },
      turns: work.turns,
      ...(work.model !== undefined && { model: work.model }),
      ...(work.tokens && { tokens: { ...work.tokens } }),
      ...(work.costUsd !== undefined && { costUsd: work.costUsd }),
    }),
    ...(exit && { exit: { code: exit.code, signal: exit.signal } }),
    ...(acceptance && { acceptance: { ...acceptance } }),
    ...(pullRequest && { pullRequest: { number: pullRequest.number, url: pullRequest.url ?? null } }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
    ...(report.worktree !== undefined && { worktree: report.worktree }),
    durationMs: report.durationMs,
  };
}
