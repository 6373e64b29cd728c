/** Routes for accounts, installations of the App, tokens and rate limits. */
import { limitOf } from '../authentication.ts';
import { exampleOf } from '../description.ts';
import { notFound, type Routes, requireApp } from '../routing.ts';
import type { Installation } from '../state.ts';

export const access: Routes = {
  'GET /repos/{owner}/{repo}/installation': (asked) => {
    requireApp(asked);
    const name = `${asked.path['owner']}/${asked.path['repo']}`.toLowerCase();
    const found = asked.world.installations.find(({ repositories }) =>
      [...repositories].some((one) => one.toLowerCase() === name),
    );
    if (found === undefined) throw notFound();
    return { status: 200, body: shown(found) };
  },

  'GET /users/{username}/installation': (asked) => {
    requireApp(asked);
    const found = asked.world.installations.find(({ account }) => account === asked.path['username']);
    if (found === undefined) throw notFound();
    return { status: 200, body: shown(found) };
  },

  'GET /app/installations': (asked) => {
    requireApp(asked);
    const count = Number(asked.query['per_page'] ?? 30);
    return { status: 200, body: asked.world.installations.slice(0, count).map(shown) };
  },

  'POST /app/installations/{installation_id}/access_tokens': (asked) => {
    requireApp(asked);
    const id = Number(asked.path['installation_id']);
    const installation = asked.world.installations.find((one) => one.id === id);
    if (installation === undefined) throw notFound();
    const { token, expiresAt } = asked.world.issueToken(installation);
    const permissions = { contents: 'write', issues: 'write', pull_requests: 'write', actions: 'read' };
    const body = {
      token,
      expires_at: expiresAt.toISOString(),
      permissions,
      repository_selection: installation.selection,
    };
    return { status: 201, body };
  },

  'GET /users/{username}': ({ world, path }) => {
    const login = path['username'] ?? '';
    if (!world.accounts.has(login)) throw notFound();
    return { status: 200, body: { ...template('GET /users/{username}'), login } };
  },

  'GET /rate_limit': ({ world, asker }) => {
    const reset = Math.floor(Date.now() / 1000) + 1800;
    const used = world.spent.get(limitOf(asker) ?? '') ?? 0;
    const left = { limit: 5000, used, remaining: 5000 - used, reset };
    const example = template('GET /rate_limit');
    const resources = { ...Object(example['resources']), core: left };
    return { status: 200, body: { ...example, resources, rate: left } };
  },
};

function shown({ id, account, selection }: Installation) {
  const example = template('GET /repos/{owner}/{repo}/installation');
  return {
    ...example,
    id,
    repository_selection: selection,
    account: { ...Object(example['account']), login: account },
  };
}

function template(route: string): Record<string, unknown> {
  return Object(exampleOf(route, 200));
}
