/**
 * Decides which repositories the members of a workspace can use: those listed for the workspace and, if it is open,
 * those listed for the deployment. The GitHub App may have access to more. Source: docs/guides/github.md.
 */
import { isListed } from '../../../access/rules/workspace.ts';
import { accessOf, type Principal } from '../../../identity/rules/principal.ts';
import { hasAtMost } from '../../../kernel/text.ts';
import { MAX_QUERY_LENGTH } from './names.ts';
import type { GitHubPorts, RepositoryName } from './ports.ts';
import { refusal } from './responses.ts';

export interface RepositoryScope {
  readonly principal: Principal;
  readonly workspace: string;
}

/** Returns the listed repositories as `owner/name`, or as `owner/*` for all repositories of an owner. */
export async function allowedRepositories(
  { workspaces, openRepositories }: GitHubPorts,
  { principal, workspace }: RepositoryScope,
): Promise<readonly string[]> {
  const own = (await workspaces.find(workspace))?.value.repositories ?? [];
  return accessOf(principal.owner.access, workspace) === 'private' ? own : [...own, ...openRepositories()];
}

/** @throws MusterError with reason ACCESS_DENIED, whether or not the repository exists */
export async function requireReachable(
  ports: GitHubPorts,
  place: RepositoryScope,
  at: RepositoryName,
): Promise<RepositoryName> {
  const name = `${at.owner}/${at.repo}`;
  if (isListed(await allowedRepositories(ports, place), name)) return at;
  throw refusal('FORBIDDEN', 'notListed', { name, workspace: place.workspace });
}

/** Matches each qualifier for a repository or an owner, even in quotes or after a minus sign. */
const PLACES = /\b(repo|user|org):\s*"?([^\s"]*)/gi;
const QUOTED = /"[^"]*"?/g;

/** Matches a qualifier (for a repository or an owner) that is a separate word. */
const NARROWING = /(?:^|\s)(?:repo|user|org):\S/i;

/** Matches operators. If the query has an operator, a qualifier may limit only a part of the search. */
const OPERATORS = /(?:^|\s)(?:AND|OR|NOT)(?:\s|$)/;
const MAX_SHOWN_REPOSITORIES = 100;

/**
 * Returns the query, limited to listed repositories. All repositories and owners in the query must be listed. If the
 * query has no such limit, all listed repositories are added, so that GitHub's total counts no other results.
 * @throws MusterError with reason ACCESS_DENIED, or VALIDATION_ERROR if too many are listed for one search
 */
export async function searchWithin(ports: GitHubPorts, place: RepositoryScope, query: string) {
  const listed = await allowedRepositories(ports, place);
  for (const [, kind = '', value = ''] of query.matchAll(PLACES)) {
    const name = kind.toLowerCase() === 'repo' ? value : `${value}/*`;
    if (!isListed(listed, name)) throw refusal('FORBIDDEN', 'notListed', { name, workspace: place.workspace });
  }
  if (isNarrowed(query)) return { query, listed };
  const places = listed.map((name) => (name.endsWith('/*') ? `user:${name.slice(0, -2)}` : `repo:${name}`));
  if (places.length === 0) throw refusal('FORBIDDEN', 'nothingListed', { workspace: place.workspace });
  const whole = [...places, query].join(' ');
  if (!hasAtMost(whole, MAX_QUERY_LENGTH))
    throw refusal('VALIDATION_ERROR', 'tooManyListed', { entries: listed.slice(0, MAX_SHOWN_REPOSITORIES) });
  return { query: whole, listed };
}

/** Returns whether a qualifier limits the whole search: unquoted, without a minus sign, and without any operators. */
function isNarrowed(query: string): boolean {
  const bare = query.replace(QUOTED, ' ');
  return NARROWING.test(bare) && !OPERATORS.test(bare);
}
