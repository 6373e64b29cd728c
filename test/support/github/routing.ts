/** Finds the handler of a request. Each route is named as in GitHub's description, such as `GET /rate_limit`. */
import type { Asker } from './authentication.ts';
import type { GitHubState, Repo } from './state.ts';

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Asked {
  readonly world: GitHubState;
  readonly asker: Asker;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Base URL of the server, without a trailing slash. */
  readonly origin: string;
}

export type Handle = (asked: Asked) => Reply;
export type Routes = Readonly<Record<string, Handle>>;

/** An error response in GitHub's format. */
export class Refused extends Error {
  readonly reply: Reply;

  constructor(status: number, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.reply = { status, body: { message, documentation_url: 'https://docs.github.com/rest', ...more } };
  }
}

export const notFound = (): Refused => new Refused(404, 'Not Found');

export function invalid(message: string, ...errors: Readonly<Record<string, unknown>>[]): Refused {
  return new Refused(422, message, errors.length > 0 ? { errors } : {});
}

/** Returns the requested page of a list. As at GitHub, a page has at most 100 items. */
export function pageOf<Item>({ query }: Asked, items: readonly Item[]): readonly Item[] {
  const size = Math.min(100, Number(query['per_page'] ?? 30));
  const from = (Number(query['page'] ?? 1) - 1) * size;
  return items.slice(from, from + size);
}

/** Returns the repository if the caller may read it. Otherwise throws status 404, as GitHub does. */
export function visible({ world, asker, path }: Asked): Repo {
  const repo = world.find(path['owner'] ?? '', path['repo'] ?? '');
  if (repo === undefined) throw notFound();
  if (repo.isBlocked) throw new Refused(451, 'Repository access blocked', { block: { reason: 'dmca' } });
  if (asker.kind === 'installation' && asker.installation.repositories.has(repo.fullName)) return repo;
  if (asker.kind === 'person' || !repo.isPrivate) return repo;
  throw notFound();
}

/** Returns the repository if the caller may write to it. Otherwise throws an error response. */
export function writable(asked: Asked): Repo {
  const repo = visible(asked);
  const { asker, world } = asked;
  if (asker.kind === 'person' && !world.personMayWrite) throw notFound();
  if (repo.isArchived) throw new Refused(403, 'Repository was archived so is read-only.');
  if (asker.kind === 'person') return repo;
  if (asker.kind === 'installation' && asker.installation.mayWrite)
    if (asker.installation.repositories.has(repo.fullName)) return repo;
  throw new Refused(403, 'Resource not accessible by integration');
}

export function requireApp({ asker }: Asked): void {
  if (asker.kind !== 'app') throw new Refused(401, 'A JSON web token could not be decoded');
}

/** Returns the route and the values of its path variables, or undefined if no route matches. */
export function match(
  routes: Routes,
  method: string,
  pathname: string,
): { readonly route: string; readonly path: Record<string, string> } | undefined {
  const parts = pathname.slice(1).split('/').map(decodeURIComponent);
  for (const route of Object.keys(routes)) {
    const [verb, template = ''] = route.split(' ');
    const names = template.slice(1).split('/');
    if (verb !== method || names.length !== parts.length) continue;
    const path: Record<string, string> = {};
    const fits = names.every((name, index) => {
      const part = parts[index] ?? '';
      const variable = /^\{(\w+)\}$/.exec(name)?.[1];
      if (variable === undefined) return name === part;
      path[variable] = part;
      return part !== '';
    });
    if (fits) return { route, path };
  }
  return undefined;
}
