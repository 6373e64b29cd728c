/** The hosted agents of models.json. This file is the only one that maps the APIs of providers to vendors' code. */
import type { modelEnvironment } from '../config.ts';
import type { Log } from '../kernel/ports.ts';
import type { AgentProfile, HostedAgent } from '../toolsets/orchestration/rules/agents/model.ts';
import {
  type ModelProvider,
  profilesOf,
  readModelKeys,
  readModels,
} from '../toolsets/orchestration/rules/agents/modelFile.ts';
import { Claude, VertexClaude } from '../vendors/anthropic/claude.ts';
import { Gemini, VertexGemini } from '../vendors/gemini/gemini.ts';
import { OpenAiChat } from '../vendors/openai/chat.ts';
import { OpenAiResponses } from '../vendors/openai/responses.ts';
import { MODEL_KEYS, type ModelSettings } from '../vendors/vendorModel.ts';
import { ownIdentity, type VertexSettings, vertexAddress } from '../vendors/vertexAccess.ts';

export type ModelEnvironment = ReturnType<typeof modelEnvironment>;

/** Returns the hosted agents, in the order of the file. @throws Error if the file is invalid */
export function hostedAgents(
  environment: ModelEnvironment,
  ports: { readonly log: Log; readonly identity?: VertexSettings['identity'] },
): readonly HostedAgent[] {
  const file = readModels(environment.file);
  const keys = readModelKeys(environment.secrets[MODEL_KEYS]);
  const identity = ports.identity ?? ownIdentity();
  return profilesOf(file).map((profile) => {
    const provider = file.providers[profile.provider];
    if (provider === undefined) throw new Error(`models.json has no provider "${profile.provider}".`);
    const { effort } = file.agents[profile.name] ?? {};
    const adjusted = withFormer(profile, environment.former[profile.name], ports.log);
    return agentOf({ ...adjusted, effort }, provider, { environment, keys, identity });
  });
}

interface Access {
  readonly environment: ModelEnvironment;
  readonly keys: ReturnType<typeof readModelKeys>;
  readonly identity: VertexSettings['identity'];
}

type Adjusted = Omit<ModelSettings, 'baseUrl'>;

function agentOf(profile: Adjusted, provider: ModelProvider, { environment, keys, identity }: Access): HostedAgent {
  const { addresses, project } = environment;
  switch (provider.api) {
    case 'anthropic':
      return new Claude({ ...withOwnKey('ANTHROPIC_API_KEY'), baseUrl: provider.baseUrl ?? addresses.anthropic });
    case 'gemini':
      return new Gemini({ ...withOwnKey('GEMINI_API_KEY'), baseUrl: provider.baseUrl ?? addresses.gemini });
    case 'openai':
      return new OpenAiResponses({ ...withKey(), baseUrl: provider.baseUrl });
    case 'openai-compatible': {
      const { baseUrl, outputLimit, costField, key } = provider;
      return new OpenAiChat({ ...(key ? withKey() : profile), baseUrl, outputLimit, costField });
    }
    case 'vertex': {
      const { location, baseUrl = vertexAddress(location) } = provider;
      const obstacle = environment.hasGoogleLogin ? profile.obstacle : NO_LOGIN;
      const settings = { ...profile, obstacle, baseUrl, location, project: provider.project ?? project, identity };
      return profile.model.startsWith('claude') ? new VertexClaude(settings) : new VertexGemini(settings);
    }
  }

  /** Adds the key with the provider's name in MODEL_KEYS. */
  function withKey(): Adjusted {
    const obstacle = keys === undefined ? INVALID_KEYS : profile.obstacle;
    return { ...profile, obstacle, secret: MODEL_KEYS, apiKey: keys?.get(profile.provider) };
  }

  /** Adds the key in the vendor's own secret, unless MODEL_KEYS contains one for the provider. */
  function withOwnKey(secret: string): Adjusted {
    if (keys?.has(profile.provider)) return withKey();
    return { ...profile, secret, apiKey: environment.secrets[secret] };
  }
}

const NO_LOGIN =
  'Vertex AI needs credentials of Google. On your own machine, run `gcloud auth application-default login` and start again.';
const INVALID_KEYS = `${MODEL_KEYS} must be a JSON object of texts, such as {"openai": "sk-…"}. Set it again.`;

/** Applies the parameters of earlier versions. They are read until version 0.6. */
function withFormer(profile: AgentProfile, former: ModelEnvironment['former'][string] | undefined, log: Log): Adjusted {
  const { model = '', inputPrice = '', outputPrice = '' } = former ?? {};
  if (`${model}${inputPrice}${outputPrice}`.trim() === '') return profile;
  const prefix = profile.name.toUpperCase();
  log.warn('model_parameters', { agent: profile.name, text: `${prefix}_MODEL and prices override models.json.` });
  const renamed = { ...profile, model: model.trim() || profile.model };
  if (`${inputPrice}${outputPrice}`.trim() === '') return renamed;
  const inputPerMillion = dollars(inputPrice) ?? profile.price?.inputPerMillion ?? Number.NaN;
  const outputPerMillion = dollars(outputPrice) ?? profile.price?.outputPerMillion ?? Number.NaN;
  const wrong = Object.entries({ INPUT: inputPerMillion, OUTPUT: outputPerMillion }).find(([, price]) => !(price >= 0));
  const obstacle = `${prefix}_${wrong?.[0]}_PRICE must be a number of US dollars per million tokens, such as 2.50.`;
  return { ...renamed, price: { inputPerMillion, outputPerMillion }, ...(wrong && { obstacle }) };
}

function dollars(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number.isFinite(Number(text)) ? Number(text) : Number.NaN;
}
