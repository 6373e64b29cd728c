/** Routes for issues and pull requests. */
import { exampleOf } from '../description.ts';
import { type Asked, invalid, notFound, pageOf, Refused, type Routes, visible, writable } from '../routing.ts';
import type { Issue, Pull, Repo } from '../state.ts';
import { shownRepository } from './contents.ts';

/** Logins of the users to whom issues can be assigned. */
const ASSIGNABLE = ['octocat', 'hubot'];

export const tracker: Routes = {
  'POST /repos/{owner}/{repo}/issues': (asked) => {
    const repo = writable(asked);
    if (!repo.hasIssues) throw new Refused(410, 'Issues are disabled for this repo');
    const { title, body, labels, assignees, milestone } = asked.body;
    if (milestone !== undefined)
      throw invalid('Validation Failed', { resource: 'Issue', field: 'milestone', code: 'invalid' });
    const issue: Issue = {
      number: repo.nextNumber(),
      title: String(title),
      body: body === undefined ? null : String(body),
      labels: list(labels),
      assignees: list(assignees).filter((login) => ASSIGNABLE.includes(login)),
      createdAt: new Date(),
      state: 'open',
    };
    repo.issues.push(issue);
    return { status: 201, body: shownIssue(repo, issue) };
  },

  'GET /repos/{owner}/{repo}/issues': (asked) => {
    const repo = visible(asked);
    if (!repo.hasIssues) throw new Refused(410, 'Issues are disabled for this repo');
    const since = new Date(asked.query['since'] ?? 0);
    const newest = [...repo.issues].reverse().filter(({ createdAt }) => createdAt >= since);
    return { status: 200, body: pageOf(asked, newest).map((issue) => shownIssue(repo, issue)) };
  },

  'PATCH /repos/{owner}/{repo}/issues/{issue_number}': (asked) => {
    const repo = writable(asked);
    const issue = repo.issues.find(({ number }) => number === Number(asked.path['issue_number']));
    if (issue === undefined) throw notFound();
    if (asked.body['state'] === 'closed') issue.state = 'closed';
    return { status: 200, body: shownIssue(repo, issue) };
  },

  'POST /repos/{owner}/{repo}/pulls': (asked) => {
    const repo = writable(asked);
    const { title, body, head, base, draft } = asked.body;
    requireMergeable(repo, String(head), String(base));
    const pull: Pull = {
      number: repo.nextNumber(),
      title: String(title),
      body: body === undefined ? null : String(body),
      head: String(head),
      base: String(base),
      draft: draft === true,
      state: 'open',
    };
    repo.pulls.push(pull);
    return { status: 201, body: shownPull(asked, repo, pull, exampleOf('POST /repos/{owner}/{repo}/pulls', 201)) };
  },

  'GET /repos/{owner}/{repo}/pulls': (asked) => {
    const repo = visible(asked);
    const { head, base, state = 'open' } = asked.query;
    const found = repo.pulls.filter(
      (pull) =>
        (state === 'all' || pull.state === state) &&
        (head === undefined || head === `${repo.owner}:${pull.head}`) &&
        (base === undefined || base === pull.base),
    );
    const [example] = Object(exampleOf('GET /repos/{owner}/{repo}/pulls', 200));
    const body = found.map((pull) => shownPull(asked, repo, pull, example));
    return { status: 200, body };
  },
};

function requireMergeable(repo: Repo, head: string, base: string): void {
  const about = (field: string) => ({ resource: 'PullRequest', field, code: 'invalid' });
  const [from, into] = [repo.branches.get(head), repo.branches.get(base)];
  if (from === undefined) throw invalid('Validation Failed', about('head'));
  if (into === undefined) throw invalid('Validation Failed', about('base'));
  const custom = (message: string) => ({ resource: 'PullRequest', code: 'custom', message });
  if (repo.objects.isAncestor(from, into))
    throw invalid('Validation Failed', custom(`No commits between ${base} and ${head}`));
  if (repo.pulls.some((pull) => pull.state === 'open' && pull.head === head && pull.base === base)) {
    const message = `A pull request already exists for ${repo.owner}:${head}.`;
    throw invalid('Validation Failed', custom(message));
  }
}

function shownIssue(repo: Repo, issue: Issue): unknown {
  const example = Object(exampleOf('POST /repos/{owner}/{repo}/issues', 201));
  const [label] = example.labels;
  const [assignee] = example.assignees;
  return {
    ...example,
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    html_url: `https://github.com/${repo.fullName}/issues/${issue.number}`,
    labels: issue.labels.map((name) => ({ ...label, name })),
    assignees: issue.assignees.map((login) => ({ ...assignee, login })),
    created_at: issue.createdAt.toISOString(),
    pull_request: undefined,
  };
}

function shownPull(asked: Asked, repo: Repo, pull: Pull, like: unknown): unknown {
  const example = Object(like);
  const side = (of: Record<string, unknown>, ref: string) => ({
    ...of,
    label: `${repo.owner}:${ref}`,
    ref,
    sha: repo.branches.get(ref) ?? '',
    repo: { ...Object(of['repo']), id: repo.id, name: repo.name, full_name: shownRepository(repo)['full_name'] },
  });
  return {
    ...example,
    requested_teams: [], // The schema requires this field, but GitHub's example lacks it.
    url: `${asked.origin}/repos/${repo.fullName}/pulls/${pull.number}`,
    html_url: `https://github.com/${repo.fullName}/pull/${pull.number}`,
    number: pull.number,
    title: pull.title,
    body: pull.body,
    state: pull.state,
    draft: pull.draft,
    head: side(example.head, pull.head),
    base: side(example.base, pull.base),
  };
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
