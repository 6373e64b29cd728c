/** Selection by URL: toolsets, a workspace, and read-only access. Source: docs/semantics.md#the-endpoint. */
import { type Principal, WORKSPACE_NAME } from '../identity/rules/principal.ts';
import { MusterError, shownName } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';

/** Toolsets whose specification includes the toolset in the name of each tool, as in `firebase.read`. */
export const NETWORK_TOOLSETS: readonly string[] = ['firebase', 'github', 'onboarding', 'system'];

/** Form of tool names: as specified at `/mcp/<toolset>`, with a prefix at `/mcp`, with a dot at `/mcp/rpc`. */
export type Dialect = 'own' | 'prefixed' | 'dotted';

export interface Selection {
  /** Names of the selected toolsets, in the order of the deployment. */
  readonly toolsets: readonly string[];
  readonly readonly: boolean;
  readonly workspace: string | undefined;
  readonly dialect: Dialect;
  readonly listing: Listing;
}

/**
 * `whole` (toolset paths, `?toolsets=all`): all tools, in full. The others list only tools that the role may call,
 * shortened. `light` (`?toolsets=`): all of them. `short` (`/mcp`), `worker` (`/mcp/worker`): those of `SHORT_LISTS`.
 */
export type Listing = 'whole' | 'light' | keyof typeof SHORT_LISTS;

/** Tools that agents use most. The other tools can be called too, and system.listSkills finds them. */
export const SHORT_LISTS = {
  short: [
    ...['onboarding.getWelcome', 'onboarding.registerAgent', 'access.whoami', 'access.explain', 'system.listSkills'],
    ...['system.getAgents', 'system.getTaskQueue', 'firebase.read', 'firebase.write', 'firebase.subscribe'],
    ...['firebase.pollEvents', 'coordination.init_coordination', 'coordination.create_task'],
    ...['coordination.create_tasks_batch', 'coordination.get_status', 'coordination.get_all_tasks'],
    ...['coordination.get_results', 'coordination.register_agent', 'coordination.claim_task'],
    ...['coordination.complete_task', 'coordination.fail_task', 'coordination.heartbeat', 'coordination.add_discovery'],
    ...['coordination.get_discoveries', 'coordination.cancel_task', 'coordination.retry_task'],
    ...['coordination.update_task', 'coordination.message_agent', 'todo.add_task', 'todo.update_task'],
    ...['todo.complete_task', 'todo.list_tasks', 'orchestration.orchestrate', 'orchestration.get_run'],
    ...['coding.create_task', 'coding.report_task', 'inbox.ask', 'inbox.wait', 'inbox.list', 'inbox.answer'],
  ],
  worker: [
    ...['system.listSkills', 'coordination.get_results', 'coordination.register_agent', 'coordination.claim_task'],
    ...['coordination.complete_task', 'coordination.fail_task', 'coordination.heartbeat', 'inbox.ask', 'inbox.wait'],
  ],
};

/** Value of the query or the header that selects all toolsets of the path. */
const ALL = 'all';

export type Protocol = 'mcp' | 'rpc' | 'events' | 'page';

interface Route extends Pick<Selection, 'toolsets' | 'readonly' | 'dialect' | 'listing'> {
  readonly protocol: Protocol;
  readonly page?: AgentPageName;
}

export type RoutedSelection = Selection & Route;

/** Toolset whose subscriptions `/mcp/events` streams. */
const STREAMING_TOOLSET = 'firebase';

interface SelectionRequest {
  /** Path of the request, with or without a leading `/mcp`: only a custom domain passes `/mcp` on. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Returns the value of the header with this lowercase name. */
  header(name: string): string | undefined;
}

/**
 * @param existing names of the deployment's toolsets, in order
 * @returns undefined if the path is unknown
 * @throws MusterError VALIDATION_ERROR if the path is known but a parameter is invalid
 */
export function parseSelection(
  { path, query, header }: SelectionRequest,
  existing: readonly string[],
): RoutedSelection | undefined {
  const route = parsePath(path, existing);
  if (route === undefined) return undefined;
  const named = [query.get('toolsets'), header('x-mcp-toolsets')].map(namesIn);
  const namedListing = named.some((names) => names.includes(ALL)) ? 'whole' : 'light';
  return {
    ...route,
    toolsets: narrowed(route.toolsets, existing, named),
    readonly: route.readonly || isTrue(query.get('readonly')) || isTrue(header('x-mcp-readonly')),
    workspace: workspaceOf(query),
    listing: route.dialect === 'own' || named.every((names) => names.length === 0) ? route.listing : namedListing,
  };
}

/** Returns the toolsets that a path serves; an empty list if the path is unknown. */
export function toolsetsAt(path: string, existing: readonly string[]): readonly string[] {
  return parsePath(path, existing)?.toolsets ?? [];
}

/** Returns all paths that the deployment serves, for the response to an unknown path. */
export function knownPaths(existing: readonly string[]): readonly string[] {
  const network = existing.some((toolset) => NETWORK_TOOLSETS.includes(toolset)) ? ['network'] : [];
  const bases = ['/mcp', ...[...existing, ...network, 'worker', 'rpc'].map((name) => `/mcp/${name}`)];
  const events = existing.includes(STREAMING_TOOLSET) ? ['/mcp/events'] : [];
  const pages = agentPagesOf(existing).map((page) => `/mcp/agent/${page}`);
  return [...bases.flatMap((base) => [base, `${base}/readonly`]), ...events, ...pages];
}

function parsePath(path: string, existing: readonly string[]): Route | undefined {
  const segments = path.split('/').filter((segment) => segment !== '');
  if (segments[0] === 'mcp') segments.shift();
  const readonly = segments.at(-1) === 'readonly';
  if (readonly) segments.pop();
  const [name, ...others] = segments;
  if (name === 'agent') return readonly ? undefined : pageRoute(others, existing);
  if (others.length > 0) return undefined;
  if (name === undefined || name === 'worker') {
    const listing = name ?? 'short';
    return { toolsets: existing, readonly, dialect: 'prefixed', listing, protocol: 'mcp' };
  }
  if (name === 'rpc') return { toolsets: existing, readonly, dialect: 'dotted', listing: 'light', protocol: 'rpc' };
  if (name === 'events') {
    if (readonly || !existing.includes(STREAMING_TOOLSET)) return undefined;
    return { toolsets: [STREAMING_TOOLSET], readonly, dialect: 'own', listing: 'whole', protocol: 'events' };
  }
  const toolsets = existing.filter(
    (toolset) => toolset === name || (name === 'network' && NETWORK_TOOLSETS.includes(toolset)),
  );
  return toolsets.length === 0 ? undefined : { toolsets, readonly, dialect: 'own', listing: 'whole', protocol: 'mcp' };
}

function pageRoute([name, ...others]: readonly string[], existing: readonly string[]): Route | undefined {
  const page = agentPagesOf(existing).find((one) => one === name);
  if (page === undefined || others.length > 0) return undefined;
  const toolsets = [AGENT_PAGES[page].toolset];
  return { toolsets, readonly: true, dialect: 'prefixed', listing: 'light', protocol: 'page', page };
}

function namesIn(list: string | null | undefined): readonly string[] {
  const names = list?.split(',').map((name) => name.trim()) ?? [];
  return names.filter((name) => name !== '');
}

/** @param named the toolsets of the query and those of the header; an empty list if a parameter is missing */
function narrowed(
  toolsets: readonly string[],
  existing: readonly string[],
  named: readonly (readonly string[])[],
): readonly string[] {
  const unknown = named.flat().find((name) => name !== ALL && !existing.includes(name));
  if (unknown !== undefined)
    throw new MusterError('VALIDATION_ERROR', `Unknown toolset "${shownName(unknown)}".`, {
      field: 'toolsets',
      suggestion: `Toolsets: ${[...existing, ALL].join(', ')}.`,
    });
  const narrowing = named.filter((names) => names.length > 0 && !names.includes(ALL));
  const chosen = toolsets.filter((toolset) => narrowing.every((names) => names.includes(toolset)));
  if (chosen.length > 0) return chosen;
  const none = 'The URL path, the query parameter toolsets and the header X-MCP-Toolsets have no toolset in common.';
  const suggestion = `Toolsets at this path: ${toolsets.join(', ')}.`;
  throw new MusterError('VALIDATION_ERROR', none, { field: 'toolsets', suggestion });
}

function workspaceOf(query: URLSearchParams): string | undefined {
  const workspace = query.get('workspace');
  if (workspace === null) return undefined;
  if (WORKSPACE_NAME.test(workspace)) return workspace;
  throw new MusterError('VALIDATION_ERROR', `Invalid workspace name "${shownName(workspace)}".`, {
    field: 'workspace',
    suggestion: 'Use 1 to 64 letters, digits, "_" or "-", starting with a letter or digit.',
  });
}

/** A parameter without a value counts as true, as in `?readonly`. */
function isTrue(value: string | null | undefined): boolean {
  return typeof value === 'string' && !['0', 'false', 'no'].includes(value.toLowerCase());
}

/** Pages that agents read by GET, as onboarding.registerAgent returns them. Each page runs one tool. */
export const AGENT_PAGES = {
  messages: {
    toolset: 'firebase',
    tool: 'read',
    argumentsFor: ({ agent_id, uid }: Principal): JsonObject => ({
      database: 'realtime',
      path: `messages/agents/${agent_id ?? uid}`,
      query: { limit: 100 },
    }),
  },
  tasks: {
    toolset: 'system',
    tool: 'getTaskQueue',
    argumentsFor: ({ agent_id }: Principal): JsonObject => (agent_id === undefined ? {} : { agentId: agent_id }),
  },
  status: { toolset: 'system', tool: 'getSystemStatus', argumentsFor: (): JsonObject => ({}) },
};
export type AgentPageName = keyof typeof AGENT_PAGES;

/** Returns the names of the pages whose tools are in these toolsets. */
function agentPagesOf(existing: readonly string[]): readonly AgentPageName[] {
  const names: readonly AgentPageName[] = ['messages', 'tasks', 'status'];
  return names.filter((name) => existing.includes(AGENT_PAGES[name].toolset));
}
