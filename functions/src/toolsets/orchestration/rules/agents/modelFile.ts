/**
 * The file models.json: the hosted agents, their models, prices and windows, and the providers that serve them. Source:
 * docs/decisions/0057-models-are-configuration.md.
 */
import { z } from 'zod';
import { parsedJson } from '../../../../kernel/json.ts';
import { type AgentProfile, MODEL_EFFORTS } from './model.ts';
import { AGENT_FORM, AGENT_NAME, AUTO, NETWORK } from './profile.ts';

const MAX_AGENTS = 20;
const MAX_PRICE = 100_000;
const SCORE = z.number().min(0).max(1).default(0.7);
const address = z.url({ protocol: /^https?$/, error: 'expected an address, such as https://openrouter.ai/api/v1' });
const dollars = z.number().min(0).max(MAX_PRICE);
const named = z.string().regex(AGENT_NAME, AGENT_FORM);

const provider = z.discriminatedUnion('api', [
  z.strictObject({ api: z.literal('anthropic'), baseUrl: address.optional() }),
  z.strictObject({ api: z.literal('gemini'), baseUrl: address.optional() }),
  z.strictObject({ api: z.literal('openai'), baseUrl: address.default('https://api.openai.com/v1') }),
  z.strictObject({
    api: z.literal('openai-compatible'),
    baseUrl: address,
    /** Whether the server requires a key. */
    key: z.boolean().default(true),
    /** Name of the parameter that limits the output. OpenAI and Azure refuse the older name. */
    outputLimit: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens'),
    /** Field of the usage with the cost in US dollars, if the server reports the cost. */
    costField: z.string().min(1).max(40).optional(),
  }),
  z.strictObject({
    api: z.literal('vertex'),
    location: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,40}$/, 'expected a location, such as global')
      .default('global'),
    /** Project that pays. Default: the project of the deployment. */
    project: z.string().min(1).max(100).optional(),
    /** Address of another endpoint with the same API. */
    baseUrl: address.optional(),
  }),
]);
export type ModelProvider = z.output<typeof provider>;

/** APIs that accept the setting `effort`. */
const EFFORT_APIS: readonly unknown[] = ['openai', 'openai-compatible'];

/** Returns the schema of an agent. @param apis APIs of the providers by name, so that all faults are found at once */
const agentWith = (apis: ReadonlyMap<string, unknown>) =>
  z
    .strictObject({
      provider: z.string().refine((name) => apis.has(name), 'expected the name of a provider of this file'),
      model: z.string().regex(/^[\x21-\x7e]{1,100}$/, 'expected the name of a model'),
      /** US dollars per million tokens. Without a price, costs are unknown, and budgets in dollars refuse the agent. */
      price: z.strictObject({ input: dollars, output: dollars }).optional(),
      context: z.int().min(1000).max(100_000_000).default(128_000),
      maxOutput: z.int().min(16).max(1_000_000).default(16_000),
      effort: z.enum(MODEL_EFFORTS).optional(),
      planning: SCORE,
      execution: SCORE,
      review: SCORE,
    })
    .refine(({ provider: name, effort }) => effort === undefined || EFFORT_APIS.includes(apis.get(name)), {
      path: ['effort'],
      error: 'applies only to the APIs openai and openai-compatible',
    });

const outline = z.looseObject({
  providers: z.record(z.string(), z.looseObject({ api: z.unknown() }).catch({ api: '' })),
});
const agentName = named.refine((name) => name !== AUTO && name !== NETWORK, `must not be ${AUTO} or ${NETWORK}`);

function schemaFor(raw: unknown) {
  const providers = outline.safeParse(raw).data?.providers ?? {};
  const apis = new Map(Object.entries(providers).map(([name, { api }]) => [name, api]));
  const count = 'expected 1 to 20 agents';
  return z.strictObject({
    providers: z.record(named, provider),
    agents: z
      .record(agentName, agentWith(apis))
      .refine((agents) => Object.keys(agents).length > 0 && Object.keys(agents).length <= MAX_AGENTS, count),
  });
}

export type ModelFile = z.output<ReturnType<typeof schemaFor>>;

/** Parses the file. @throws Error with one line for each fault, such as `agents.local.price.input: …` */
export function readModels(raw: unknown, file = 'models.json'): ModelFile {
  const { success, data, error } = schemaFor(raw).safeParse(raw);
  if (success) return data;
  const faults = error.issues.map(({ path, message, ...issue }) => {
    const why = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? message) : message;
    return `  ${path.join('.') || 'the file'}: ${why}`;
  });
  throw new Error([`${file} is invalid:`, ...faults].join('\n'));
}

/** Parses the secret with the keys of providers, by name. @returns undefined if it is not a JSON object of texts */
export function readModelKeys(secret = '{}'): ReadonlyMap<string, string> | undefined {
  const { data } = z.record(z.string(), z.string()).safeParse(parsedJson(secret));
  return data && new Map(Object.entries(data));
}

/** Returns the agents of a file, in its order, which is that of list_agents. */
export function profilesOf({ agents }: ModelFile): readonly AgentProfile[] {
  return Object.entries(agents).map(
    ([name, { provider: of, model, price, context, maxOutput, planning, execution, review }]) => ({
      name,
      provider: of,
      model,
      price: price && { inputPerMillion: price.input, outputPerMillion: price.output },
      capabilities: { planning, execution, review, contextWindow: context },
      maxOutputTokens: maxOutput,
    }),
  );
}
