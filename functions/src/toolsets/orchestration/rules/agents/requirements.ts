/** What a task asks of an agent, as far as its description says so. */
import type { Availability } from '../ports.ts';
import { type AgentProfile, type AgentRole, CAPABILITY_OF } from './profile.ts';

export interface Requirements {
  readonly role: AgentRole;
  /** As it is usually written: `Python`. */
  readonly language?: string;
  /** In tokens. */
  readonly contextSize?: number;
}

export interface InferredRequirements extends Requirements {
  /** What was read out of the description, in words. */
  readonly notes: readonly string[];
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

const FACTORS: Readonly<Record<string, number>> = {
  k: 1000,
  thousand: 1000,
  m: 1_000_000,
  million: 1_000_000,
};

/** How much of a task is looked at, in characters: a bound on what the looking costs. */
const LOOKED_AT = 4000;

/** What is given wins over what the description says. */
export function inferRequirements(
  description: string,
  given: { [Name in keyof Requirements]?: Requirements[Name] | undefined },
): InferredRequirements {
  const task = description.slice(0, LOOKED_AT);
  const notes: string[] = [];
  const note = <Value>(value: Value, text: string): Value => {
    notes.push(text);
    return value;
  };
  const mentioned = ROLE_MENTIONS.find(([, mention]) => mention.test(task))?.[0];
  const role = given.role ?? (mentioned && note(mentioned, `The task is one to ${mentioned}.`)) ?? 'execute';
  const spoken = LANGUAGES.find(([, mention]) => mention.test(task))?.[0];
  const language = given.language ?? (spoken && note(spoken, `The task is about ${spoken}.`));
  const tokens = sizeIn(task);
  const contextSize =
    given.contextSize ?? (tokens && note(tokens, `The task is about ${tokens} tokens large.`));
  return {
    role,
    ...(language !== undefined && { language }),
    ...(contextSize !== undefined && { contextSize }),
    notes,
  };
}

/** In tokens; undefined where the text names no size. */
function sizeIn(task: string): number | undefined {
  const [, number = '', factor = '', unit = ''] = SIZE.exec(task) ?? [];
  const perUnit =
    TOKENS_PER[
      unit
        .toLowerCase()
        .replace(/^bytes?$/, 'b')
        .replace('ib', 'b')
        .replace(/s$/, '')
    ];
  if (perUnit === undefined) return undefined;
  const count = Number(number.replace(/,(?=\d{3})/g, '').replace(',', '.'));
  const tokens = Math.ceil(count * (FACTORS[factor.toLowerCase()] ?? 1) * perUnit);
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : undefined;
}

/** A language as it is usually written; one that is not known stays as it is. */
export function languageNamed(text: string): string {
  const trimmed = text.trim();
  const known = LANGUAGES.find(([name]) => name.toLowerCase() === trimmed.toLowerCase());
  return known?.[0] ?? trimmed;
}

function isKnownLanguage(name: string): boolean {
  return LANGUAGES.some(([known]) => known === name);
}

// How well agents suit a task, and why. Source: spec/orchestration.md, get_capabilities.

/** A hosted agent as it stands now. */
export interface AgentStatus extends AgentProfile {
  readonly availability: Availability;
}

export interface Recommendation {
  readonly agent: string;
  /** From 0 to 1. */
  readonly score: number;
  readonly reasons: readonly string[];
  readonly warnings: readonly string[];
}

/** From here on a capability is called good. */
const GOOD = 0.8;

/**
 * Best first. A score is the capability for the role; an agent that lacks something never scores above one that
 * lacks nothing, and stands after it where they are even.
 */
export function recommend(
  agentStatuses: readonly AgentStatus[],
  requirements: Requirements,
): readonly Recommendation[] {
  const capability = CAPABILITY_OF[requirements.role];
  const best = Math.max(...agentStatuses.map(({ capabilities }) => capabilities[capability]));
  const judged = agentStatuses.map((agentStatus) => {
    const warnings = warningsFor(agentStatus, requirements);
    return { agentStatus, warnings, own: agentStatus.capabilities[capability] };
  });
  const ceiling = Math.min(1, ...judged.filter(lacksNothing).map(({ own }) => own));
  return judged
    .map(({ agentStatus, warnings, own }) => ({
      agent: agentStatus.name,
      score: warnings.length === 0 ? own : Math.min(own, ceiling),
      reasons: [strength(own, own === best, capability), ...furtherReasons(agentStatus, requirements)],
      warnings,
    }))
    .sort((left, right) => right.score - left.score || left.warnings.length - right.warnings.length);
}

function lacksNothing({ warnings }: { readonly warnings: readonly string[] }): boolean {
  return warnings.length === 0;
}

function strength(own: number, isBest: boolean, capability: string): string {
  const word = isBest ? 'Best' : own >= GOOD ? 'Good' : 'Some';
  return `${word} ${capability} capability`;
}

/** For who can take the whole task; otherwise they are no reasons to give it to them. */
function furtherReasons(
  agentStatus: AgentStatus,
  { language, contextSize }: Requirements,
): readonly string[] {
  if (!fits(agentStatus, contextSize)) return [];
  return language !== undefined && isKnownLanguage(language) ? [`Supports ${language}`] : [];
}

function warningsFor(agentStatus: AgentStatus, { contextSize, language }: Requirements): readonly string[] {
  const { availability } = agentStatus;
  return [
    ...(fits(agentStatus, contextSize) ? [] : ['Lower context window than required']),
    ...(language === undefined || isKnownLanguage(language) ? [] : [`Nothing is known about ${language}`]),
    ...(availability.available ? [] : [`Unavailable: ${availability.reason}`]),
  ];
}

function fits({ capabilities }: AgentStatus, contextSize: number | undefined): boolean {
  return contextSize === undefined || contextSize <= capabilities.contextWindow;
}
