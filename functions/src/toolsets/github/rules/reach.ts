/**
 * Which repositories the members of a workspace reach: what somebody has listed for it and, in an open workspace, what
 * the deployment lists for all. Nothing else, however much the GitHub App sees. Source: docs/guides/github.md.
 */

import { isListed } from '../../../access/rules/workspace.ts';
import { accessOf, type Principal } from '../../../identity/rules/principal.ts';
import { hasAtMost } from '../../../kernel/text.ts';
import { refusal } from './answers.ts';
import { MAX_QUERY_LENGTH } from './names.ts';
import type { GitHubPorts, RepositoryName } from './ports.ts';

export interface Place {
  readonly principal: Principal;
  readonly workspace: string;
}

/** As they are listed: `owner/name`, or `owner/*` for all of an owner's. */
export async function listedFor(
  { workspaces, openRepositories }: GitHubPorts,
  { principal, workspace }: Place,
): Promise<readonly string[]> {
  const own = (await workspaces.find(workspace))?.value.repositories ?? [];
  return accessOf(principal.owner.access, workspace) === 'private' ? own : [...own, ...openRepositories()];
}

/** @throws MusterError with reason ACCESS_DENIED, the same whether there is such a repository or not */
export async function reachable(
  ports: GitHubPorts,
  place: Place,
  at: RepositoryName,
): Promise<RepositoryName> {
  if (isListed(await listedFor(ports, place), `${at.owner}/${at.repo}`)) return at;
  throw notListed(`${at.owner}/${at.repo}`, place);
}

function notListed(name: string, { workspace }: Place) {
  return refusal('FORBIDDEN', 'notListed', { name, workspace });
}

/** What names a repository or whose they are, wherever it stands in a query: also in quotes, and behind a minus. */
const PLACES = /\b(repo|user|org):\s*"?([^\s"]*)/gi;

const QUOTED = /"[^"]*"?/g;

/** What narrows a search to a place: a word of its own. */
const NARROWING = /(?:^|\s)(?:repo|user|org):\S/i;

/** With these in a query nobody is sure what its qualifiers mean. */
const OPERATORS = /(?:^|\s)(?:AND|OR|NOT)(?:\s|$)/;

const MAX_SHOWN = 100;

/**
 * A query that finds nothing but what is listed: places that it names are, and where they do not narrow it, it is given
 * all that are. GitHub counts what it finds anywhere, also on a page that shows nothing.
 * @throws MusterError with reason ACCESS_DENIED, or VALIDATION_ERROR where too many are listed to search all at once
 */
export async function searchWithin(ports: GitHubPorts, place: Place, query: string) {
  const listed = await listedFor(ports, place);
  for (const [, kind = '', value = ''] of query.matchAll(PLACES)) {
    const name = kind.toLowerCase() === 'repo' ? value : `${value}/*`;
    if (!isListed(listed, name)) throw notListed(name, place);
  }
  if (isNarrowed(query)) return { query, listed };
  const places = listed.map((name) => (name.endsWith('/*') ? `user:${name.slice(0, -2)}` : `repo:${name}`));
  if (places.length === 0) throw refusal('FORBIDDEN', 'nothingListed', { workspace: place.workspace });
  const whole = [...places, query].join(' ');
  if (!hasAtMost(whole, MAX_QUERY_LENGTH))
    throw refusal('VALIDATION_ERROR', 'tooManyListed', { entries: listed.slice(0, MAX_SHOWN) });
  return { query: whole, listed };
}

/** Quoted, excluded or combined, a place may not narrow the search. */
function isNarrowed(query: string): boolean {
  const bare = query.replace(QUOTED, ' ');
  return NARROWING.test(bare) && !OPERATORS.test(bare);
}
