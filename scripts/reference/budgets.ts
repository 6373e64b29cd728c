/** Token budgets and measured cost of the tool list at `/mcp`, which hosts add to each request to a model. */
import { Catalogs } from '../../functions/src/mcp/catalog.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { tokensOf } from '../../test/support/tokens.ts';

/** Maximum number of tokens of the whole list for an admin, who sees every tool, counted by o200k. */
export const MAX_TOKENS = 8_500;

export const MAX_BYTES = 38_000;

/** Maximum number of tokens per toolset. Their sum is at most `MAX_TOKENS`. */
export const TOOLSET_TOKENS: Readonly<Record<string, number>> = {
  onboarding: 435,
  access: 169,
  system: 505,
  firebase: 700,
  github: 1010,
  coordination: 2244,
  todo: 1652,
  orchestration: 841,
  coding: 481,
  inbox: 458,
};

export interface ListCost {
  readonly tools: number;
  readonly bytes: number;
  readonly tokens: number;
}

const catalogs = new Catalogs(toolsets);

/** Returns the cost of an admin's list at `/mcp` that has only the tools of these toolsets. */
export function listCost(names: readonly string[]): ListCost {
  const selection = { readonly: false, workspace: undefined, dialect: 'prefixed', listing: 'light' } as const;
  const { tools, json } = catalogs
    .of({ ...selection, toolsets: names })
    .listFor({ workspace: 'admin', owner: 'admin', anyone: 'admin' }, 'person');
  const read = tools.map(({ _meta: _forHosts, ...shown }) => shown); // hosts do not pass `_meta` to models
  return { tools: tools.length, bytes: json.length, tokens: tokensOf(JSON.stringify(read)) };
}
