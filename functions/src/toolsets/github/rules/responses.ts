/** Schemas of GitHub's responses. They shorten texts and remove hidden characters, except in file contents. */
import { z } from 'zod';
import { type ErrorDetails, MusterError } from '../../../kernel/errors.ts';
import texts from './errors.json' with { type: 'json' };
import { plainLine, plainText, webAddress } from './text.ts';

/** Parses a response. @throws MusterError GITHUB_ERROR if the response does not have the documented form */
export function checkedResponse<Schema extends z.ZodType>(schema: Schema, { data, route, status }: GitHubResponse) {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues.slice(0, 3).map(({ path, code }) => `${path.join('.')} ${code}`);
  const cause = `${route}: ${status} ${where.join(', ')}`;
  throw refusal('GITHUB_ERROR', 'unexpectedAnswer', { cause });
}

/** A single line written by a GitHub user, such as a title or a name. */
export const line = z.string().transform((value) => plainLine(value, 300));
const text = z.string().transform((value) => plainText(value, 1000));
export const sha = z.string().regex(/^[0-9a-f]{40,64}$/);
const time = z.iso.datetime({ offset: true }).transform((value) => new Date(value).toISOString());

export const address = z
  .string()
  .nullish()
  .transform((value) => webAddress(value ?? ''));

export const number = z.int().positive();
const count = z.int().min(0);

/** Schema for a value that GitHub may omit or send as null. */
function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const login = z.object({ login: line }).transform((account) => account.login);
export const hasSha = z.object({ sha }).transform((object) => object.sha);

/** A repository. Its id does not change if the repository is renamed. */
export const repository = z
  .object({ id: number, name: line, owner: login, default_branch: line, stargazers_count: count.default(0) })
  .transform(({ default_branch, stargazers_count: stars, ...same }) => ({
    ...same,
    defaultBranch: default_branch,
    stars,
  }));

export const commit = z
  .object({ sha, commit: z.object({ message: z.string(), tree: hasSha }), parents: z.array(hasSha) })
  .transform(({ commit: content, ...same }) => ({ ...same, ...content }));

export type Commit = z.output<typeof commit>;
export const reference = z.object({ object: hasSha }).transform(({ object }) => object);

export const issue = z
  .object({
    number,
    title: line,
    state: line,
    html_url: address,
    labels: z.array(z.union([z.string(), z.object({ name: z.string().nullish() })])),
    assignees: optional(z.array(login)),
    created_at: time,
  })
  .transform(({ html_url: url, labels, assignees = [], created_at, ...same }) => {
    const names = labels.map((label) => (typeof label === 'string' ? label : (label.name ?? '')));
    return { ...same, url, labels: names.map((name) => plainLine(name, 100)), assignees, createdAt: created_at };
  });

export type Issue = z.output<typeof issue>;

export const pullRequest = z
  .object({
    number,
    title: line,
    state: line,
    draft: z.boolean().default(false),
    html_url: address,
    head: z.object({ ref: line, sha }),
    base: z.object({ ref: line, repo: z.object({ id: number }) }),
    created_at: time,
  })
  .transform(({ html_url: url, head, base, created_at, ...same }) => ({
    ...same,
    url,
    head: head.ref,
    headSha: head.sha,
    base: base.ref,
    /** Id of the repository into which the pull request would be merged. */
    repositoryId: base.repo.id,
    createdAt: created_at,
  }));

export type PullRequest = z.output<typeof pullRequest>;

const workflowRun = z
  .object({
    id: number,
    name: line.nullish(),
    display_title: line.default(''),
    run_number: number,
    run_attempt: number.default(1),
    event: line,
    status: line.nullish(),
    conclusion: optional(line),
    head_branch: optional(line),
    head_sha: sha,
    workflow_id: number,
    actor: optional(login),
    html_url: address,
    created_at: time,
    updated_at: time,
  })
  .transform(({ id, event, conclusion, actor, ...run }) => ({
    id,
    name: run.name ?? '',
    title: run.display_title,
    runNumber: run.run_number,
    attempt: run.run_attempt,
    event,
    status: run.status ?? '',
    conclusion,
    branch: run.head_branch,
    sha: run.head_sha,
    workflowId: run.workflow_id,
    actor,
    url: run.html_url,
    createdAt: run.created_at,
    updatedAt: run.updated_at,
  }));

export const workflowRuns = z
  .object({ total_count: count, workflow_runs: z.array(workflowRun) })
  .transform(({ total_count: total, workflow_runs: runs }) => ({ total, runs }));

const MAX_FAILED_STEPS = 20;

/** Conclusions of failed checks and jobs. */
export const FAILED_CONCLUSIONS: readonly unknown[] = ['failure', 'timed_out', 'startup_failure'];

const job = z
  .object({
    id: number,
    name: line,
    conclusion: optional(line),
    html_url: address,
    started_at: optional(time),
    completed_at: optional(time),
    steps: optional(z.array(z.object({ name: line, conclusion: z.string().nullish() }))),
  })
  .transform(({ html_url: url, started_at, completed_at, steps = [], ...same }) => {
    const failed = steps.filter(({ conclusion }) => conclusion === 'failure').slice(0, MAX_FAILED_STEPS);
    return {
      ...same,
      url,
      startedAt: started_at,
      completedAt: completed_at,
      failedSteps: failed.map(({ name }) => name),
    };
  });

export const jobs = z
  .object({ total_count: count, jobs: z.array(job) })
  .transform(({ total_count: total, jobs: listed }) => ({ total, jobs: listed }));

const base64 = z.string().transform((content) => content.replace(/\s/g, ''));

const file = z
  .object({ type: z.literal('file'), path: z.string(), sha, size: count, content: base64, encoding: z.string() })
  // For files above 1 MB, GitHub omits the content and sends the encoding "none". Empty files have no content either.
  .transform(({ content, encoding, ...same }) => ({ ...same, base64: encoding === 'base64' ? content : undefined }));

export type FoundFile = z.output<typeof file>;

const submodule = z
  .object({ type: z.literal('submodule'), path: z.string(), sha, submodule_git_url: optional(text) })
  .transform(({ submodule_git_url: url, ...same }) => ({ ...same, url }));

const entry = z
  .object({ name: line, type: z.string() })
  .transform(({ name, type }) => plainText(type === 'dir' ? `${name}/` : name, 300));

/** Content at a path: a list for a directory; one object for a file, a symbolic link or a submodule. */
export const contents = z.union([
  z.array(entry).transform((entries) => ({ type: 'directory' as const, entries })),
  file,
  z.object({ type: z.literal('symlink'), path: z.string(), sha, target: text }),
  submodule,
]);

export const blob = z.object({ content: base64, encoding: z.literal('base64') }).transform(({ content }) => content);

export type FileKind = 'file' | 'executable' | 'symlink';

/** Kinds of files by Git's file mode. Files with any other mode are plain files. */
const KINDS: ReadonlyMap<string, FileKind | 'submodule'> = new Map([
  ['100755', 'executable'],
  ['120000', 'symlink'],
  ['160000', 'submodule'],
]);

const treeEntry = z
  .object({ path: z.string(), mode: z.string(), type: z.string(), sha })
  .transform(({ mode, type, ...same }) => {
    const kind: FileKind | 'submodule' | 'directory' = type === 'tree' ? 'directory' : (KINDS.get(mode) ?? 'file');
    return { ...same, kind };
  });

export type TreeEntry = z.output<typeof treeEntry>;

/** `truncated` is true if GitHub has omitted some entries. */
export const tree = z
  .object({ tree: z.array(treeEntry), truncated: z.boolean() })
  .transform(({ tree: entries, truncated }) => ({ entries, truncated }));

/** In characters. */
const MAX_FRAGMENT_LENGTH = 4000;

const textMatch = z.object({
  property: z.string().nullish(),
  fragment: z.string().default(''),
  matches: z.array(z.object({ text: z.string().default(''), indices: z.array(count).default([]) })).default([]),
});

const codeHit = z
  .object({
    path: line,
    sha,
    repository: z.object({ name: line, owner: login, description: optional(text) }),
    text_matches: z.array(textMatch).default([]),
  })
  .transform(({ text_matches, repository: { name: repo, owner, description }, ...same }) => ({
    ...same,
    at: { owner, repo },
    description,
    /** Parts of the file that contain matches. Positions of matches are in UTF-16 code units. */
    fragments: text_matches
      .filter(({ property }) => property === 'content')
      .map(({ fragment, matches }) => ({
        text: fragment.slice(0, MAX_FRAGMENT_LENGTH),
        matches: matches
          .map((match) => ({ start: match.indices[0] ?? 0, text: match.text }))
          .filter(({ start }) => start < MAX_FRAGMENT_LENGTH),
      })),
  }));

export type CodeHit = z.output<typeof codeHit>;

/** `incomplete` is true if GitHub's search timed out. */
export const codeHits = z
  .object({ total_count: count, incomplete_results: z.boolean(), items: z.array(codeHit) })
  .transform(({ total_count: total, incomplete_results: incomplete, items: hits }) => ({ total, incomplete, hits }));

export const rateLimit = z
  .object({ resources: z.object({ core: z.object({ limit: count, remaining: count, reset: count }) }) })
  .transform(({ resources: { core } }) => ({ ...core, reset: new Date(core.reset * 1000) }));

export type RateLimit = z.output<typeof rateLimit>;

export interface GitHubResponse {
  readonly route: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly data: unknown;
}

/**
 * Errors of the GitHub tools. Their texts are in errors.json, by the codes of "Specific Error Codes". `reason` is the
 * error's name in the specification. No error contains text from GitHub.
 */

/** Texts of an error, with placeholders in braces, as in `Branch "{branch}" not found.` */
interface Text {
  readonly field?: string;
  readonly reason: string;
  readonly message: string;
  readonly suggestion?: string;
}

const MAX_SHOWN_LENGTH = 200;

type Codes = keyof typeof texts;
const TEXTS: { readonly [Code in Codes]: Readonly<Record<keyof (typeof texts)[Code], Text>> } = texts;

type ErrorCode = Pick<ErrorDetails, 'field' | 'entries' | 'retryAfter' | 'cause'> & Readonly<Record<string, unknown>>;

/** Returns the error with this code and this key in errors.json. Long paths in its texts are shortened. */
export function refusal<Code extends Codes>(
  code: Code,
  name: keyof (typeof texts)[Code],
  { field, entries, retryAfter, cause, ...about }: ErrorCode = {},
): MusterError {
  const { message, suggestion, ...text } = TEXTS[code][name];
  const filled = (words: string) =>
    words.replace(/\{(\w+)\}/g, (_, key: string) => {
      const value = String(about[key]);
      return key === 'path' && value.length > MAX_SHOWN_LENGTH ? `${value.slice(0, MAX_SHOWN_LENGTH)}…` : value;
    });
  return new MusterError(code, filled(message), {
    ...text,
    ...(suggestion !== undefined && { suggestion: filled(suggestion) }),
    ...(field !== undefined && { field }),
    ...(entries !== undefined && { entries }),
    ...(retryAfter !== undefined && { retryAfter }),
    cause,
  });
}
