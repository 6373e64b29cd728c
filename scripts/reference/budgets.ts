/** Token budgets of the list at `/mcp`, which is part of each turn of a model, and its actual cost. */
import { Catalogs } from '../../functions/src/mcp/catalog.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { tokensOf } from '../../test/support/tokens.ts';

/** Maximum tokens of the whole list, counted by o200k, for the role that sees most. */
export const MAX_TOKENS = 8_500;

export const MAX_BYTES = 38_000;

/** Maximum tokens per toolset. Their sum is at most `MAX_TOKENS`. */
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

/** Returns the cost of some toolsets' light list for an admin, who sees every tool. */
export function listCost(names: readonly string[]): ListCost {
  const selection = { readonly: false, workspace: undefined, dialect: 'prefixed', listing: 'light' } as const;
  const { tools, json } = catalogs
    .of({ ...selection, toolsets: names })
    .listFor({ workspace: 'admin', owner: 'admin', anyone: 'admin' }, 'person');
  const read = tools.map(({ _meta: _forHosts, ...shown }) => shown); // hosts do not pass this to models
  return { tools: tools.length, bytes: json.length, tokens: tokensOf(JSON.stringify(read)) };
}
