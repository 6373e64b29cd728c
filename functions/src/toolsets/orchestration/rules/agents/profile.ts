/** What the hosted agents are good at, what tasks ask of them, and what is measured of them. */

import { z } from 'zod/mini';
import { HOSTED_AGENTS, KINDS_OF_WORK, type KindOfWork } from '../../../../access/rules/workspace.ts';
import { MusterError } from '../../../../kernel/errors.ts';

/** What an agent does in a step: a kind of work. */
export const ROLES = KINDS_OF_WORK;

export type AgentRole = KindOfWork;

/** In the order of the orchestration specification, list_agents. Capabilities from 0 to 1, and the context window in tokens. */
export const PROFILES = [
  { name: 'claude', capabilities: { planning: 0.95, execution: 0.85, review: 0.9, contextWindow: 200_000 } },
  {
    name: 'gemini',
    capabilities: { planning: 0.85, execution: 0.95, review: 0.8, contextWindow: 1_000_000 },
  },
] satisfies readonly { readonly name: (typeof HOSTED_AGENTS)[number]; readonly capabilities: object }[];

export type AgentProfile = Readonly<(typeof PROFILES)[number]>;

/** Stands for the agent that fits best. */
export const AUTO = 'auto';

/** Stands for any live agent of the network that has the capabilities that a step asks for. */
export const NETWORK = 'network';

/** Whether a step may name it. */
export function isAgent(name: string): boolean {
  return name === AUTO || name === NETWORK || isHosted(name);
}

export function isHosted(name: string): boolean {
  return HOSTED_AGENTS.some((one) => one === name);
}

/** The end of an error about a name that no agent has. */
export function unknownAgent(name: string): string {
  return `there is no agent "${name}"; there are ${HOSTED_AGENTS.join(', ')}, ${AUTO}, and ${NETWORK} for a live agent with the step's capabilities.`;
}

/** Which capability a role needs. */
export const CAPABILITY_OF = { plan: 'planning', execute: 'execution', review: 'review' } as const;

const ROLE_WORDS = {
  plan: ['plan', 'planner', 'planning'],
  execute: ['execute', 'executor', 'execution'],
  review: ['review', 'reviewer', 'reviewing'],
};

/** The role that a word means, as role or as capability; undefined where it means none. */
export function roleNamed(word: string): AgentRole | undefined {
  return ROLES.find((role) => ROLE_WORDS[role].includes(word.trim().toLowerCase()));
}

/** @throws MusterError VALIDATION_ERROR where the word means no role */
export function requireRole(word: string, field: string): AgentRole {
  const role = roleNamed(word);
  if (role !== undefined) return role;
  throw new MusterError('VALIDATION_ERROR', `No role "${word}".`, {
    field,
    value: word,
    suggestion: `The roles are ${ROLES.join(', ')}.`,
  });
}

/** How good an agent is at a role, from 0 to 1; 0 where nothing is known of it. */
export function capabilityFor(agent: string, role: AgentRole): number {
  return profileOf(agent)?.capabilities[CAPABILITY_OF[role]] ?? 0;
}

export function profileOf(agent: string): AgentProfile | undefined {
  return PROFILES.find(({ name }) => name === agent);
}

/** Times in milliseconds from request to the end of the answer; undefined without a request: nothing is made up. */
export function metricsOf(measure: AgentMeasure | undefined) {
  if (measure === undefined || measure.requests === 0) return undefined;
  const { requests, answered, milliseconds } = measure;
  return {
    ...(answered > 0 && { avgResponseTime: Math.round(milliseconds / answered) }),
    successRate: answered / requests,
    totalRequests: requests,
  };
}

/** What a task asks of an agent, as far as its description says so. */
export interface Requirements {
  readonly role: AgentRole;
  /** As it is usually written: `Python`. */
  readonly language?: string | undefined;
  /** In tokens. */
  readonly contextSize?: number | undefined;
}

/** What a language is called, and how a description mentions it. Go is too common a word to go without its capital. */
const LANGUAGES: readonly (readonly [name: string, mention: RegExp])[] = [
  ['TypeScript', /\b(typescript|tsx)\b|\.tsx?\b/i],
  ['JavaScript', /\b(javascript|node\.?js|jsx)\b|\.m?jsx?\b/i],
  ['Python', /\b(python|django|flask|pandas)\b|\.py\b/i],
  ['Java', /\bjava\b(?!script)/i],
  ['Kotlin', /\bkotlin\b/i],
  ['Swift', /\bSwift\b|\.swift\b/],
  ['C++', /\bc\+\+|\bcpp\b/i],
  ['C#', /\bc#|\bcsharp\b/i],
  ['Go', /\bgolang\b|\bGo (code|program|service|module|function|library)\b|\bin Go\b/],
  ['Rust', /\brust\b|\.rs\b/i],
  ['Ruby', /\b(ruby|rails)\b/i],
  ['PHP', /\bphp\b/i],
  ['Scala', /\bscala\b/i],
  ['SQL', /\b(sql|postgres(ql)?|mysql|sqlite)\b/i],
  ['Shell', /\b(bash|shell script|zsh)\b/i],
];

/** Verbs of a role, in the order in which they are looked for. */
const ROLE_MENTIONS: readonly (readonly [role: AgentRole, mention: RegExp])[] = [
  ['review', /\b(review|audit|critique|assess|inspect|evaluate|find (the )?bugs?|proofread)\b/i],
  ['plan', /\b(plan|design|architect|outline|roadmap|break down|strategy)\b/i],
];

/** How many tokens one of a unit is. A token is about four characters, three quarters of an English word. */
const TOKENS_PER: Readonly<Record<string, number>> = {
  b: 1 / 4,
  kb: 1000 / 4,
  mb: 1_000_000 / 4,
  gb: 1_000_000_000 / 4,
  token: 1,
  word: 4 / 3,
  line: 10,
  page: 500,
};

const SIZE =
  /(\d+(?:[.,]\d+)*)\s*(k|m|million|thousand)?[\s-]*(bytes?|kb|kib|mb|mib|gb|gib|tokens?|words?|lines?|pages?)\b/i;

const FACTORS: Readonly<Record<string, number>> = { k: 1000, thousand: 1000, m: 1e6, million: 1e6 };

/** How much of a task is looked at, in characters: a bound on what the looking costs. */
export const LOOKED_AT = 4000;

/** What is given wins over what the description says. @returns notes: what was read out of the description, in words */
export function inferRequirements(
  description: string,
  given: { [Name in keyof Requirements]?: Requirements[Name] | undefined },
) {
  const task = description.slice(0, LOOKED_AT);
  const notes: string[] = [];
  const noted = <Value>(value: Value | undefined, text: (value: Value) => string): Value | undefined => {
    if (value !== undefined) notes.push(text(value));
    return value;
  };
  const mentioned = <Name>(among: readonly (readonly [Name, RegExp])[]): Name | undefined =>
    among.find(([, mention]) => mention.test(task))?.[0];
  const role =
    given.role ?? noted(mentioned(ROLE_MENTIONS), (verb) => `The task is one to ${verb}.`) ?? 'execute';
  const language = given.language ?? noted(mentioned(LANGUAGES), (name) => `The task is about ${name}.`);
  const contextSize =
    given.contextSize ?? noted(sizeIn(task), (tokens) => `The task is about ${tokens} tokens large.`);
  return {
    role,
    ...(language !== undefined && { language }),
    ...(contextSize !== undefined && { contextSize }),
    notes,
  };
}

/** In tokens; undefined where the text names no size. */
function sizeIn(task: string): number | undefined {
  const [, number = '', factor = '', unit = ''] = SIZE.exec(task)?.map((part) => part?.toLowerCase()) ?? [];
  const singular = unit
    .replace(/^bytes?$/, 'b')
    .replace('ib', 'b')
    .replace(/s$/, '');
  const perUnit = TOKENS_PER[singular];
  if (perUnit === undefined) return undefined;
  const count = Number(number.replace(/,(?=\d{3})/g, '').replace(',', '.'));
  const tokens = Math.ceil(count * (FACTORS[factor] ?? 1) * perUnit);
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined;
}

export function isKnownLanguage(name: string | undefined): boolean {
  return LANGUAGES.some(([known]) => known === name);
}

/** A language as it is usually written; one that is not known stays as it is. */
export function languageNamed(text: string): string {
  const trimmed = text.trim();
  return LANGUAGES.find(([name]) => name.toLowerCase() === trimmed.toLowerCase())?.[0] ?? trimmed;
}

/** What commits may change of measures. */
export interface MeasureChanges {
  /** Adds to what has been measured of the agent. */
  readonly measureAgent: { readonly measure: AgentMeasure };
}

/** What has been measured of a hosted agent: counters, spread over several documents, each of which is such a one. */
const measureDocument = z.object({
  agent: z.string(),
  /** Requests that were made and have ended by themselves. */
  requests: z.number(),
  answered: z.number(),
  /** That the answered ones took. */
  milliseconds: z.number(),
});

export type AgentMeasure = Readonly<z.output<typeof measureDocument>>;

/** What one shard has of an agent. */
export function measureFromDocument(data: unknown): AgentMeasure {
  return measureDocument.parse(data);
}
