/** What a new agent is told. Source: spec/network.md, onboarding.getWelcome; docs/semantics.md#network. */
import type { AgentType } from '../../../access/rules/agent.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import texts from './welcome.json' with { type: 'json' };

/** The first steps that a welcome may propose. */
export const STEP_NAMES = [
  'register',
  'checklist',
  'join',
  'queue',
  'status',
  'agents',
  'discoveries',
  'skills',
  'claim',
] as const;

type StepName = (typeof STEP_NAMES)[number];

interface StepText {
  readonly title: string;
  readonly description: string;
}

/** What welcome.json has in each language. The compiler refuses a language that lacks one of its texts. */
interface WelcomeText {
  /** `{name}` stands for the newcomer's. */
  readonly message: string;
  readonly systemOverview: string;
  readonly roles: Readonly<Record<AgentType, string>>;
  /** `{list}` stands for the specializations, as the language lists them. */
  readonly specializations: string;
  readonly steps: Readonly<Record<StepName, StepText>>;
  /** Said of a step whose tool the caller's endpoint does not list; `{url}` is one that does. */
  readonly elsewhere: string;
  /** Whom to ask where a workspace has no leader yet. */
  readonly askWhoInvitedYou: string;
}

/** A call that somebody is told to make. */
export interface ProposedCall {
  /** Its full name: `coordination.claim_task`. */
  readonly tool: string;
  readonly args: JsonObject;
}

export interface Welcome {
  readonly language: Language;
  /** Says that the language asked for is not there. */
  readonly notice?: string;
  readonly message: string;
  readonly systemOverview: string;
  readonly roleDescription: string;
  readonly steps: readonly WelcomeStep[];
  elsewhere(url: string): string;
  readonly askWhoInvitedYou: string;
}

export interface WelcomeStep extends StepText {
  readonly call: ProposedCall;
}

export interface Newcomer {
  /** As it may stand in a sentence. */
  readonly name: string;
  readonly role: AgentType;
  readonly specializations: readonly string[];
  readonly language: string;
  /** The name to register under, and the id that this gives. */
  readonly registration: { readonly name: string; readonly agentId: string };
  /** The workspace that it is to work in. */
  readonly workspace: string;
  /** Whether it may be registered as a leader. */
  readonly mayLead: boolean;
}

const FIRST: readonly StepName[] = ['register', 'checklist', 'join'];

const THEN: Readonly<Record<AgentType, readonly StepName[]>> = {
  researcher: ['discoveries', 'claim'],
  developer: ['queue', 'claim'],
  coordinator: ['status', 'agents'],
  analyst: ['status', 'claim'],
  specialist: ['skills', 'claim'],
};

export function welcome(newcomer: Newcomer): Welcome {
  const { language, isFallback } = chooseLanguage(newcomer.language);
  const text = TEXTS[language];
  const { role, specializations } = newcomer;
  const special =
    specializations.length > 0
      ? [text.specializations.replace('{list}', () => listed(specializations, language))]
      : [];
  return {
    language,
    ...(isFallback && { notice: `This welcome is in English. It is there in: ${LANGUAGES.join(', ')}.` }),
    message: text.message.replace('{name}', () => newcomer.name),
    systemOverview: text.systemOverview,
    roleDescription: [text.roles[role], ...special].join(' '),
    steps: [...FIRST, ...THEN[role]].map((step) => ({ ...text.steps[step], call: callOf(step, newcomer) })),
    elsewhere: (url) => text.elsewhere.replace('{url}', () => url),
    askWhoInvitedYou: text.askWhoInvitedYou,
  };
}

function callOf(step: StepName, newcomer: Newcomer): ProposedCall {
  const { agentId } = newcomer.registration;
  switch (step) {
    case 'register':
      return registering(newcomer);
    case 'checklist':
      return { tool: 'onboarding.getChecklist', args: { agentId } };
    case 'join':
      return {
        tool: 'coordination.register_agent',
        args: { agent_id: agentId, role: leads(newcomer) ? 'leader' : 'worker' },
      };
    case 'queue':
      return { tool: 'system.getTaskQueue', args: {} };
    case 'status':
      return { tool: 'coordination.get_status', args: {} };
    case 'agents':
      return { tool: 'system.getAgents', args: {} };
    case 'discoveries':
      return { tool: 'coordination.get_discoveries', args: {} };
    case 'skills':
      return { tool: 'system.listSkills', args: {} };
    case 'claim':
      return { tool: 'coordination.claim_task', args: { agent_id: agentId } };
  }
}

function registering(newcomer: Newcomer): ProposedCall {
  const { role, specializations, registration, workspace } = newcomer;
  const names = specializations.length > 0 ? specializations : [role];
  return {
    tool: 'onboarding.registerAgent',
    args: {
      agentInfo: { name: registration.name, type: role, version: '1.0.0' },
      capabilities: names.map((name) => ({ name, category: role })),
      workspace,
      ...(leads(newcomer) && { role: 'leader' }),
    },
  };
}

function leads({ role, mayLead }: Newcomer): boolean {
  return role === 'coordinator' && mayLead;
}

/** ISO 639-1 codes. */
export const LANGUAGES = ['en', 'es', 'fr', 'de', 'pt', 'zh', 'ja'] as const;

type Language = (typeof LANGUAGES)[number];

export const TEXTS: Readonly<Record<Language, WelcomeText>> = texts;

/**
 * The language of a BCP 47 tag by its primary subtag, `pt` of `pt-BR`; English where there is none.
 * @returns whether English stands in for another language
 */
export function chooseLanguage(tag: string): { readonly language: Language; readonly isFallback: boolean } {
  const primary = tag.slice(0, 100).trim().split(/[-_]/)[0]?.toLowerCase();
  const language = LANGUAGES.find((known) => known === primary);
  return { language: language ?? 'en', isFallback: language === undefined };
}

/** Several words as the language lists them: "a, b and c". */
function listed(words: readonly string[], language: Language): string {
  return new Intl.ListFormat(language, { type: 'conjunction' }).format(words);
}
