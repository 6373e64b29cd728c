/** Names and roles of agents, requirements of tasks, and performance measurements of agents. */
import { z } from 'zod/mini';
import { KINDS_OF_WORK, type KindOfWork } from '../../../../access/rules/workspace.ts';
import { documentCodec } from '../../../../kernel/documentCodec.ts';
import { unknownName } from '../../../../kernel/errors.ts';

export const ROLES = KINDS_OF_WORK;

export type AgentRole = KindOfWork;

/** Agent name for steps in which Muster selects the most suitable agent. */
export const AUTO = 'auto';

/** Agent name for steps that any live agent with the step's capabilities can do. */
export const NETWORK = 'network';

/** Form of the names of hosted agents and their providers. */
export const AGENT_NAME = /^[a-z][a-z0-9-]{1,31}$/;
export const AGENT_FORM = 'expected 2 to 32 lowercase letters, digits and "-", starting with a letter';

/** Returns whether the name is that of a hosted agent, and not `auto` or `network`. */
export function isHosted(name: string): boolean {
  return name !== AUTO && name !== NETWORK;
}

/**
 * Returns the names in a workflow that are not agents. Stored workflows may name agents that models.json no longer
 * contains, so only the form of their names is checked.
 * @param hosted names of the hosted agents; undefined for a stored workflow
 */
export function unknownIn(names: readonly string[], hosted: readonly string[] | undefined): string | undefined {
  return names.find((name) => isHosted(name) && !(hosted?.includes(name) ?? AGENT_NAME.test(name)));
}

/** Returns the end of an error message about an unknown agent name, which lists the allowed names. */
export function unknownAgent(name: string, hosted: readonly string[]): string {
  return `unknown agent "${name}". Use ${[...hosted, AUTO].join(', ')}, or ${NETWORK} for a live agent with the step's capabilities.`;
}

export const CAPABILITY_OF = { plan: 'planning', execute: 'execution', review: 'review' } as const;

const ROLE_WORDS = {
  plan: ['plan', 'planner', 'planning'],
  execute: ['execute', 'executor', 'execution'],
  review: ['review', 'reviewer', 'reviewing'],
};

/** Returns the role with this name, or the role that needs the capability with this name. */
export function roleNamed(word: string): AgentRole | undefined {
  return ROLES.find((role) => ROLE_WORDS[role].includes(word.trim().toLowerCase()));
}

/** Returns the role for a word, like `roleNamed`. @throws MusterError VALIDATION_ERROR for an unknown word */
export function requireRole(word: string, field: string): AgentRole {
  const role = roleNamed(word);
  if (role !== undefined) return role;
  throw unknownName('role', word, ROLES, field);
}

/** Returns an agent's metrics, with the average response time in milliseconds; undefined without any request. */
export function metricsOf(measure: AgentMeasure | undefined) {
  if (measure === undefined || measure.requests === 0) return undefined;
  const { requests, answered, milliseconds } = measure;
  return {
    ...(answered > 0 && { avgResponseTime: Math.round(milliseconds / answered) }),
    successRate: answered / requests,
    totalRequests: requests,
  };
}

/** Requirements of a task. A requirement is undefined if neither the caller nor the task text states it. */
export interface Requirements {
  readonly role: AgentRole;
  /** Standard spelling of the programming language, such as `Python`. */
  readonly language?: string | undefined;
  /** In tokens. */
  readonly contextSize?: number | undefined;
}

/** Languages, and patterns of their mentions. "Go" must be capitalized, because "go" is also a common verb. */
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

/** Words that suggest a role. The first role with a matching word is chosen. */
const ROLE_MENTIONS: readonly (readonly [role: AgentRole, mention: RegExp])[] = [
  ['review', /\b(review|audit|critique|assess|inspect|evaluate|find (the )?bugs?|proofread)\b/i],
  ['plan', /\b(plan|design|architect|outline|roadmap|break down|strategy)\b/i],
];

/** Tokens per unit of a stated size. A token is about four characters, or three quarters of an English word. */
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

/** Number of characters of a task that are searched for requirements, to limit the cost of the search. */
export const LOOKED_AT = 4000;

/** Adds requirements that the task text implies to the given requirements. `notes` explains each addition. */
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
  const role = given.role ?? noted(mentioned(ROLE_MENTIONS), (verb) => `The task is to ${verb}.`) ?? 'execute';
  const language = given.language ?? noted(mentioned(LANGUAGES), (name) => `The task is about ${name}.`);
  const contextSize = given.contextSize ?? noted(sizeIn(task), (tokens) => `The task has about ${tokens} tokens.`);
  return {
    role,
    ...(language !== undefined && { language }),
    ...(contextSize !== undefined && { contextSize }),
    notes,
  };
}

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

/** Returns the standard spelling of a language name. Returns unknown names unchanged, but trimmed. */
export function languageNamed(text: string): string {
  const trimmed = text.trim();
  return LANGUAGES.find(([name]) => name.toLowerCase() === trimmed.toLowerCase())?.[0] ?? trimmed;
}

export interface MeasureChanges {
  readonly measureAgent: { readonly measure: AgentMeasure };
}

/** Counters of one hosted agent in one shard. An agent's total is the sum over all shards. */
export const { fromDocument: measureFromDocument } = documentCodec(
  z.object({
    agent: z.string(),
    /** Requests that ended without being cancelled. */
    requests: z.number(),
    answered: z.number(),
    milliseconds: z.number(),
  }),
);
export type AgentMeasure = ReturnType<typeof measureFromDocument>;
