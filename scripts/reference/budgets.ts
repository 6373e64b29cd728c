/** Token budgets and measured cost of the short tool lists, which hosts add to each request to a model. */
import { Catalogs } from '../../functions/src/mcp/catalog.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { tokensOf } from '../../test/support/tokens.ts';

/** The lists, with their maximum number of tools and of tokens, counted by o200k. Cursor ignores tools beyond 40. */
export const LEADER_LIST = {
  address: '/mcp',
  listing: 'short',
  role: 'leader',
  maxTools: 40,
  maxTokens: 4_900,
} as const;
export const SMALLER_LISTS = [
  { address: '/mcp', listing: 'short', role: 'worker', maxTools: 40, maxTokens: 4_400 },
  { address: '/mcp/worker', listing: 'worker', role: 'worker', maxTools: 9, maxTokens: 900 },
] as const;
type ShortList = typeof LEADER_LIST | (typeof SMALLER_LISTS)[number];

/** Maximum number of tokens of each toolset in the list of a leader. Their sum is at most that of the list. */
export const TOOLSET_TOKENS: Readonly<Record<string, number>> = {
  onboarding: 363,
  access: 169,
  system: 313,
  firebase: 648,
  github: 0,
  coordination: 1917,
  todo: 532,
  orchestration: 252,
  coding: 279,
  inbox: 397,
};

export type ListCost = ReturnType<typeof listCost>;
const catalogs = new Catalogs(toolsets);

/** Returns the cost of a list for agents or people, or the cost of the tools in it that belong to one toolset. */
export function listCost({ listing, role }: ShortList, toolset?: string, kind: 'agent' | 'person' = 'agent') {
  const selection = { toolsets: catalogs.names, readonly: false, workspace: undefined } as const;
  const catalog = catalogs.of({ ...selection, dialect: 'prefixed', listing });
  const { tools } = catalog.listFor({ workspace: role, owner: role, anyone: role }, kind);
  const shown = tools.filter(({ name }) => toolset === undefined || catalog.findTool(name)?.toolset === toolset);
  const read = shown.map(({ _meta: _forHosts, ...tool }) => tool); // hosts do not pass `_meta` to models
  const tokens = shown.length === 0 ? 0 : tokensOf(JSON.stringify(read));
  return { tools: shown.length, bytes: Buffer.byteLength(JSON.stringify(shown)), tokens };
}
