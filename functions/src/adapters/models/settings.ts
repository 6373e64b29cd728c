/** What a deployment says about a hosted model, and whether it can be asked with it. */
import type { Availability, Price } from '../../domain/orchestration/ports.ts';

export interface ModelSettings {
  readonly apiKey?: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly price: Price;
}

/** The parameters' names, for whoever has to set them. */
export interface ParameterNames {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly inputPrice: string;
  readonly outputPrice: string;
}

export function availabilityOf(agent: string, settings: ModelSettings, names: ParameterNames): Availability {
  const reason = obstacle(agent, settings, names);
  return reason === undefined ? { available: true } : { available: false, reason };
}

function obstacle(
  agent: string,
  { apiKey, baseUrl, model, price }: ModelSettings,
  names: ParameterNames,
): string | undefined {
  if (apiKey === undefined) {
    return (
      `${agent} has no key here: whoever runs this deployment sets ${names.apiKey}, with ` +
      `\`npx firebase functions:secrets:set ${names.apiKey}\` and a deployment, or on a machine of their own in ` +
      'functions/.env.local. For a local trial without a key: `npm start -- --demo-models`. See docs/guides/models.md.'
    );
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return `${names.apiKey} has characters that no key has. Set it again.`;
  if (!isSafe(baseUrl)) return `${names.baseUrl} is not an https:// address.`;
  if (model === '') return `${names.model} is empty: name a model.`;
  if (!isPrice(price.inputPerMillion)) return notAPrice(names.inputPrice);
  if (!isPrice(price.outputPerMillion)) return notAPrice(names.outputPrice);
  return undefined;
}

/** Keys go over TLS, or stay on this machine. */
function isSafe(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const local = url?.protocol === 'http:' && /^(127\.0\.0\.1|localhost)$/.test(url.hostname);
  return url?.protocol === 'https:' || local;
}

function isPrice(dollars: number): boolean {
  return Number.isFinite(dollars) && dollars >= 0;
}

function notAPrice(name: string): string {
  return `${name} is not a number of US dollars for a million tokens, such as 2.50.`;
}
