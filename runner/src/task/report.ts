/** Builds the report of an attempt, which `end_task` sends. Source: docs/guides/runner.md#the-report. */
import type { Changes } from '../git/changes.ts';
import { listed } from '../git/keep/kept.ts';
import type { Merge } from '../git/merge.ts';
import type { Exit } from '../process/program.ts';
import type { Json, Redactor } from '../redaction.ts';
import { clean, cutBytes } from '../text.ts';
import type { Acceptance } from './acceptance.ts';
import type { AgentWork } from './transcript.ts';

export interface Report {
  readonly branch: string;
  readonly base: string | undefined;
  /** Commit that the attempt produced or checked. */
  readonly head: string | undefined;
  readonly changes: Changes | undefined;
  readonly work: AgentWork | undefined;
  readonly exit: Exit | undefined;
  readonly acceptance: Acceptance | undefined;
  readonly merge: Merge | undefined;
  readonly pullRequest: { readonly number: number; readonly url?: string | undefined } | undefined;
  /** Sentences about optional steps that failed, such as opening a pull request. */
  readonly warnings: readonly string[];
  /** Path of a worktree that is kept. */
  readonly worktree: string | undefined;
  /** Path of the repository on the runner's machine, if only this repository has the branch. */
  readonly repository: string | undefined;
  readonly durationMs: number;
}

/** Maximum number of files in a heartbeat. */
const MAX_FILES = 1000;

/** Maximum UTF-8 bytes of each text. The hub ignores commit subjects and paths of more than 1,000 characters. */
const MOST = {
  summary: 64_000,
  acceptance: 48_000,
  /** The hub compares this command with that of the task, which has at most 2,000 characters. */
  acceptanceCommand: 6000,
  subject: 900,
  path: 900,
  command: 3000,
  warning: 3000,
  diffLine: 2000,
  other: 4000,
} as const;

/** Maximum JSON bytes of each list. If a list is longer, entries at its end are removed. */
const MAX_LISTED = {
  commits: 96_000,
  files: 96_000,
  diff: 200_000,
  conflicts: 32_000,
  commands: 96_000,
  tools: 32_000,
  warnings: 64_000,
} as const;

/** Maximum characters of a diff that are redacted. Redaction takes time, and only the first 200 KB are sent. */
const MAX_REDACTED = 1_000_000;

/**
 * Returns a report without secrets, in texts that the hub accepts. Because of the limits on texts and lists, its JSON
 * has at most 910 KB. The hub accepts 1 MiB.
 */
export function reportJson(report: Report, redactor: Redactor): Json {
  const { base, head, worktree, repository, changes, work, exit, acceptance, merge, pullRequest, warnings } = report;
  const text = shortening(redactor);
  return {
    summary: text(work?.summary ?? '', MOST.summary),
    branch: text(report.branch),
    ...textsJson({ base, head, worktree, repository }, text),
    ...(changes && changesJson(changes, text, redactor)),
    ...(work && {
      commands: fitting(
        work.commands.map((command) => text(command, MOST.command)),
        MAX_LISTED.commands,
      ),
      tools: toolsJson(work.tools, text),
      turns: work.turns,
      ...(work.model !== undefined && { model: text(work.model) }),
      ...(work.tokens && { tokens: { ...work.tokens } }),
      ...(work.costUsd !== undefined && { costUsd: work.costUsd }),
    }),
    ...(exit && { exit: { code: exit.code, signal: exit.signal } }),
    ...(acceptance && {
      acceptance: {
        ...acceptance,
        command: text(acceptance.command, MOST.acceptanceCommand),
        output: text(acceptance.output, MOST.acceptance),
      },
    }),
    ...(merge && {
      merge: { ...merge, into: text(merge.into), conflicts: pathsJson(merge.conflicts, text, MAX_LISTED.conflicts) },
    }),
    ...(pullRequest && {
      pullRequest: { number: pullRequest.number, url: pullRequest.url === undefined ? null : text(pullRequest.url) },
    }),
    ...(warnings.length > 0 && { warnings: warningsJson(warnings, text) }),
    durationMs: report.durationMs,
  };
}

function textsJson(values: Readonly<Record<string, string | undefined>>, text: Shortened): Record<string, string> {
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, text(value)]]));
  return Object.fromEntries(given);
}

function changesJson(changes: Changes, text: Shortened, redactor: Redactor) {
  return {
    commits: fitting(
      changes.commits.map(({ sha, subject }) => ({ sha: text(sha), subject: text(subject, MOST.subject) })),
      MAX_LISTED.commits,
    ),
    diffstat: { ...changes.diffstat },
    files: fitting(
      changes.files.map((file) => ({ ...file, path: text(file.path, MOST.path) })),
      MAX_LISTED.files,
    ),
    ...(changes.diff !== undefined && { diff: diffText(changes.diff, redactor) }),
  };
}

/** Returns paths as a heartbeat reports them. */
export function filesJson(paths: readonly string[], redactor: Redactor): readonly string[] {
  return pathsJson(paths.slice(0, MAX_FILES), shortening(redactor), MAX_LISTED.files);
}

/** Returns a sentence with the first conflicts; undefined for a clean merge. */
export function conflictText(merge: Merge | undefined): string | undefined {
  return merge === undefined || merge.clean
    ? undefined
    : `It does not merge into ${merge.into}: ${listed(merge.conflicts)}`;
}

function pathsJson(paths: readonly string[], text: Shortened, max: number): readonly string[] {
  return fitting(
    paths.map((path) => text(path, MOST.path)),
    max,
  );
}

function shortening(redactor: Redactor): Shortened {
  return (value, max = MOST.other) => ellipsis(clean(redactor.text(value)), max);
}

/** Returns the first lines of a diff without secrets. If lines are missing, the last line states it. */
function diffText(diff: string, redactor: Redactor): string {
  // The part ends with a whole line, because the redactor does not recognize half of a secret.
  const end = diff.length > MAX_REDACTED ? Math.max(diff.lastIndexOf('\n', MAX_REDACTED), 0) : diff.length;
  const lines = clean(redactor.text(diff.slice(0, end))).split('\n');
  const shown = fitting(
    lines.map((line) => ellipsis(line, MOST.diffLine)),
    MAX_LISTED.diff,
  );
  const rest = end === diff.length ? [] : diff.slice(end + 1).split('\n');
  const missing = [...lines.slice(shown.length), ...rest];
  return (missing.length === 0 ? shown : [...shown, missingText(missing)]).join('\n');
}

function missingText(lines: readonly string[]): string {
  const files = lines.filter((line) => line.startsWith('diff --git ')).length;
  const more = `${counted(lines.length, 'more line')}${files === 0 ? '' : `, ${counted(files, 'more file')}`}`;
  return `Not shown: ${more}. The branch contains the whole diff.`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function ellipsis(text: string, max: number): string {
  const kept = cutBytes(text, max);
  return kept.length < text.length ? `${kept}…` : kept;
}

type Shortened = (value: string, max?: number) => string;

/** Returns the first warnings, shortened. The log contains each warning in full. */
function warningsJson(warnings: readonly string[], text: Shortened): readonly string[] {
  const shown = fitting(
    warnings.map((warning) => text(warning, MOST.warning)),
    MAX_LISTED.warnings,
  );
  const more = warnings.length - shown.length;
  return more === 0 ? shown : [...shown, `The log contains ${more} more warnings.`];
}

/** Returns the tools as JSON. A tool name that the hub refuses as an object key gets brackets. */
function toolsJson(tools: AgentWork['tools'], text: Shortened): Json {
  const named = Object.entries(tools).map(([tool, count]) => {
    const name = text(tool, MOST.subject);
    return [name === '__proto__' ? `(${name})` : name, count] as const;
  });
  return Object.fromEntries(fitting(named, MAX_LISTED.tools));
}

/** Returns as many items from the start of a list as fit into the given number of JSON bytes. */
function fitting<Item>(items: readonly Item[], max: number): readonly Item[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    return bytes > max;
  });
  return end === -1 ? items : items.slice(0, end);
}
