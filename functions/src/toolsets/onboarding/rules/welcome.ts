/** What a new agent is told. Source: the network specification, onboarding.getWelcome; docs/semantics.md#network. */
import type { Agent } from '../../../agents/rules/agent.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import texts from './welcome.json' with { type: 'json' };

/** ISO 639-1 codes. */
export const LANGUAGES = ['en', 'es', 'fr', 'de', 'pt', 'zh', 'ja'] as const;

type Language = (typeof LANGUAGES)[number];

/**
 * In a message, `{name}` stands for the newcomer's name; in `specializations`, `{list}` for these, as the language
 * lists them. `elsewhere` is said of a step whose tool the caller's endpoint does not list: `{url}` is one that does.
 * `askWhoInvitedYou` is said where a workspace has no leader yet. The compiler refuses a language without one of them.
 */
export const TEXTS: Readonly<Record<Language, typeof texts.en>> = texts;

/** The first steps that a welcome may propose. */
type StepName = keyof typeof texts.en.steps;

/** A call that somebody is told to make. */
export interface ProposedCall {
  /** Its full name: `coordination.claim_task`. */
  readonly tool: string;
  readonly args: JsonObject;
}

export interface Newcomer {
  /** As it may stand in a sentence. */
  readonly name: string;
  readonly role: Agent['type'];
  readonly specializations: readonly string[];
  readonly language: string;
  /** The name to register under, and the id that this gives. */
  readonly registration: { readonly name: string; readonly agentId: string };
  readonly workspace: string;
  readonly mayLead: boolean;
}

const FIRST: readonly StepName[] = ['register', 'checklist', 'join'];

const THEN: Readonly<Record<Agent['type'], readonly StepName[]>> = {
  researcher: ['discoveries', 'claim'],
  developer: ['queue', 'claim'],
  coordinator: ['status', 'agents'],
  analyst: ['status', 'claim'],
  specialist: ['skills', 'claim'],
};

/** A notice says that the language asked for is not there. */
export function welcome(newcomer: Newcomer) {
  const { language, isFallback } = chooseLanguage(newcomer.language);
  const text = TEXTS[language];
  const { role, specializations } = newcomer;
  const listed = new Intl.ListFormat(language, { type: 'conjunction' }).format(specializations);
  const special = specializations.length > 0 ? [text.specializations.replace('{list}', () => listed)] : [];
  const calls = callsOf(newcomer);
  return {
    language,
    ...(isFallback && { notice: `This welcome is in English. It is there in: ${LANGUAGES.join(', ')}.` }),
    message: text.message.replace('{name}', () => newcomer.name),
    systemOverview: text.systemOverview,
    roleDescription: [text.roles[role], ...special].join(' '),
    steps: [...FIRST, ...THEN[role]].map((step) => ({ ...text.steps[step], call: calls[step] })),
    elsewhere: (url: string) => text.elsewhere.replace('{url}', () => url),
    askWhoInvitedYou: text.askWhoInvitedYou,
  };
}

function callsOf(newcomer: Newcomer): Readonly<Record<StepName, ProposedCall>> {
  const { role, specializations, registration, workspace, mayLead } = newcomer;
  const { agentId } = registration;
  const isLeading = role === 'coordinator' && mayLead;
  const registering = {
    agentInfo: { name: registration.name, type: role, version: '1.0.0' },
    capabilities: (specializations.length > 0 ? specializations : [role]).map((name) => ({
      name,
      category: role,
    })),
    workspace,
    ...(isLeading && { role: 'leader' }),
  };
  const joining = { agent_id: agentId, role: isLeading ? 'leader' : 'worker' };
  return {
    register: { tool: 'onboarding.registerAgent', args: registering },
    checklist: { tool: 'onboarding.getChecklist', args: { agentId } },
    join: { tool: 'coordination.register_agent', args: joining },
    queue: { tool: 'system.getTaskQueue', args: {} },
    status: { tool: 'coordination.get_status', args: {} },
    agents: { tool: 'system.getAgents', args: {} },
    discoveries: { tool: 'coordination.get_discoveries', args: {} },
    skills: { tool: 'system.listSkills', args: {} },
    claim: { tool: 'coordination.claim_task', args: { agent_id: agentId } },
  };
}

/** The language of a BCP 47 tag, `pt` of `pt-BR`, or English. @returns whether English stands in for another language */
export function chooseLanguage(tag: string): { readonly language: Language; readonly isFallback: boolean } {
  const primary = tag.slice(0, 100).trim().split(/[-_]/)[0]?.toLowerCase();
  const language = LANGUAGES.find((known) => known === primary);
  return { language: language ?? 'en', isFallback: language === undefined };
}
