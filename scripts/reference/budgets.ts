/** What the list at `/mcp` may cost whoever reads it with each turn of a model, and what it costs. */
import { Catalogues } from '../../functions/src/mcp/catalogue.ts';
import { toolsets } from '../../functions/src/toolsets/index.ts';
import { tokensOf } from '../../test/support/tokens.ts';

/** The most tokens of the list, of all its toolsets and of each, counted by o200k, to the role that sees most. */
export const MAX_TOKENS = 8_500;

export const MAX_BYTES = 38_000;

/** They add up to no more than `MAX_TOKENS`. */
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

const catalogues = new Catalogues(toolsets);

/** What the light list of some toolsets costs an admin, who may call everything. */
export function listCost(names: readonly string[]): ListCost {
  const selection = { readonly: false, workspace: undefined, dialect: 'prefixed', listing: 'light' } as const;
  const { tools, json } = catalogues
    .of({ ...selection, toolsets: names })
    .listFor({ workspace: 'admin', owner: 'admin', anyone: 'admin' }, 'person');
  const read = tools.map(({ _meta: _forHosts, ...shown }) => shown); // hosts keep that to themselves
  return { tools: tools.length, bytes: json.length, tokens: tokensOf(JSON.stringify(read)) };
}
