/** Branches, and commits made of blobs and trees. Source: https://docs.github.com/rest/git */
import { z } from 'zod';
import { MusterError } from '../../domain/errors.ts';
import type { Commit, TreeEntry } from '../../domain/github/port.ts';
import type { RepositoryName } from '../../domain/github/repository.ts';
import { checked, commit, sha } from './answers.ts';
import { find, once, unless } from './asking.ts';
import type { Client } from './request.ts';

const created = z.object({ sha });

const reference = z.object({ object: z.object({ sha }) });

export async function readCommit(
  client: Client,
  at: RepositoryName,
  ref: string,
): Promise<Commit | undefined> {
  // One of the files that it changed is still too many, but GitHub gives no fewer.
  const parameters = { ...at, ref, per_page: 1 };
  const answer = await unless(client, 'GET /repos/{owner}/{repo}/commits/{ref}', parameters, ({ status }) =>
    // 409: an empty repository; 422: no commit of that name.
    [404, 409, 422].includes(status) ? 'missing' : undefined,
  );
  return answer === 'missing' ? undefined : checked(commit, answer);
}

export async function readBranch(
  client: Client,
  at: RepositoryName,
  name: string,
): Promise<string | undefined> {
  const route = 'GET /repos/{owner}/{repo}/git/ref/{ref}';
  const answer = await unless(client, route, { ...at, ref: `heads/${name}` }, ({ status }) =>
    status === 404 || status === 409 ? 'missing' : undefined,
  );
  return answer === 'missing' ? undefined : checked(reference, answer).object.sha;
}

export async function createBranch(
  client: Client,
  at: RepositoryName,
  name: string,
  target: string,
): Promise<'created' | 'exists' | 'unanswered' | undefined> {
  const parameters = { ...at, ref: `refs/heads/${name}`, sha: target };
  const answer = await once(client, 'POST /repos/{owner}/{repo}/git/refs', parameters, ({ status, text }) => {
    if (status === 404) return 'missing';
    return status === 422 && /already exists/i.test(text) ? 'exists' : undefined;
  });
  if (answer === 'missing') return undefined;
  return typeof answer === 'string' ? answer : 'created';
}

export async function moveBranch(
  client: Client,
  at: RepositoryName,
  name: string,
  target: string,
): Promise<'moved' | 'stale' | 'unanswered' | undefined> {
  const parameters = { ...at, ref: `heads/${name}`, sha: target, force: false };
  const route = 'PATCH /repos/{owner}/{repo}/git/refs/{ref}';
  const answer = await once(client, route, parameters, ({ status, text }) => {
    if (status === 404 || (status === 422 && /does not exist/i.test(text))) return 'missing';
    if (status === 422 && /fast.forward/i.test(text)) return 'stale';
    return /protected branch|rule violations/i.test(text) ? 'protected' : undefined;
  });
  if (answer === 'protected') throw isProtected(name);
  if (answer === 'missing') return undefined;
  return typeof answer === 'string' ? answer : 'moved';
}

export async function createBlob(
  client: Client,
  at: RepositoryName,
  base64: string,
): Promise<string | undefined> {
  const parameters = { ...at, content: base64, encoding: 'base64' };
  const answer = await find(client, 'POST /repos/{owner}/{repo}/git/blobs', parameters);
  return answer && checked(created, answer).sha;
}

export async function createTree(
  client: Client,
  at: RepositoryName,
  base: string,
  entries: readonly TreeEntry[],
): Promise<string | undefined> {
  const parameters = { ...at, base_tree: base, tree: entries.map(treeEntry) };
  const answer = await find(client, 'POST /repos/{owner}/{repo}/git/trees', parameters);
  return answer && checked(created, answer).sha;
}

export async function createCommit(
  client: Client,
  at: RepositoryName,
  { message, tree, parent }: { readonly message: string; readonly tree: string; readonly parent: string },
): Promise<string | undefined> {
  const parameters = { ...at, message, tree, parents: [parent] };
  const answer = await find(client, 'POST /repos/{owner}/{repo}/git/commits', parameters);
  return answer && checked(created, answer).sha;
}

const MODES = { file: '100644', executable: '100755', symlink: '120000' } as const;

function treeEntry({ path, kind, content }: TreeEntry) {
  const entry = { path, mode: MODES[kind], type: 'blob' };
  if (content === undefined) return { ...entry, sha: null };
  return 'text' in content ? { ...entry, content: content.text } : { ...entry, sha: content.blob };
}

function isProtected(branch: string): MusterError {
  return new MusterError('FORBIDDEN', `Branch "${branch}" is protected.`, {
    field: 'branch',
    reason: 'PROTECTED_BRANCH',
    suggestion: 'Nothing was committed. Commit to a branch of your own and open a pull request.',
  });
}
