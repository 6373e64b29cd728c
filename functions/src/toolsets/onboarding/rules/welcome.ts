/** Welcome of a new agent. Source: the network specification, onboarding.getWelcome; docs/semantics.md#network. */
import type { Agent } from '../../../agents/rules/agent.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import texts from './welcome.json' with { type: 'json' };

/** Languages of the welcome, as ISO 639-1 codes. */
export const LANGUAGES = ['en', 'es', 'fr', 'de', 'pt', 'zh', 'ja'] as const;
type Language = (typeof LANGUAGES)[number];

/**
 * Placeholders: `{name}` is the new agent's name, `{list}` the list of its specializations. `elsewhere` is added to a
 * step whose tool the caller's endpoint does not serve; `{url}` is an endpoint that does. `askWhoInvitedYou` is shown
 * if the workspace has no leader. A language that lacks a text does not compile.
 */
export const TEXTS: Readonly<Record<Language, typeof texts.en>> = texts;

type StepName = keyof typeof texts.en.steps;

/** A call that the welcome or the checklist suggests. */
export interface ProposedCall {
  /** Full tool name, such as `coordination.claim_task`. */
  readonly tool: string;
  readonly args: JsonObject;
}

export interface NewAgent {
  /** The agent's name, with line breaks and invisible characters removed, for use in a sentence. */
  readonly name: string;
  readonly role: Agent['type'];
  readonly specializations: readonly string[];
  readonly language: string;
  /** The name under which the agent should register, and the agent id that it gets. */
  readonly registration: { readonly name: string; readonly agentId: string };
  readonly workspace: string;
  readonly canLead: boolean;
}

const FIRST_STEP: readonly StepName[] = ['register', 'checklist', 'join'];

const LATER_STEPS: Readonly<Record<Agent['type'], readonly StepName[]>> = {
  researcher: ['discoveries', 'claim'],
  developer: ['queue', 'claim'],
  coordinator: ['status', 'agents'],
  analyst: ['status', 'claim'],
  specialist: ['skills', 'claim'],
};

/** Returns the welcome. If the requested language is not available, the welcome is in English, with a notice. */
export function welcome(newcomer: NewAgent) {
  const { language, isFallback } = chooseLanguage(newcomer.language);
  const text = TEXTS[language];
  const { role, specializations } = newcomer;
  const listed = new Intl.ListFormat(language, { type: 'conjunction' }).format(specializations);
  const special = specializations.length > 0 ? [text.specializations.replace('{list}', () => listed)] : [];
  const calls = callsOf(newcomer);
  return {
    language,
    ...(isFallback && { notice: `This welcome is in English. Available languages: ${LANGUAGES.join(', ')}.` }),
    message: text.message.replace('{name}', () => newcomer.name),
    systemOverview: text.systemOverview,
    roleDescription: [text.roles[role], ...special].join(' '),
    steps: [...FIRST_STEP, ...LATER_STEPS[role]].map((step) => ({ ...text.steps[step], call: calls[step] })),
    elsewhere: (url: string) => text.elsewhere.replace('{url}', () => url),
    askWhoInvitedYou: text.askWhoInvitedYou,
  };
}

function callsOf(newcomer: NewAgent): Readonly<Record<StepName, ProposedCall>> {
  const { role, specializations, registration, workspace, canLead } = newcomer;
  const { agentId } = registration;
  const isLeading = role === 'coordinator' && canLead;
  const registering = {
    agentInfo: { name: registration.name, type: role, version: '1.0.0' },
    capabilities: (specializations.length > 0 ? specializations : [role]).map((name) => ({ name, category: role })),
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

/** Returns the language of a BCP 47 tag (`pt` for `pt-BR`). English is the fallback for unavailable languages. */
export function chooseLanguage(tag: string): { readonly language: Language; readonly isFallback: boolean } {
  const primary = tag.slice(0, 100).trim().split(/[-_]/)[0]?.toLowerCase();
  const language = LANGUAGES.find((known) => known === primary);
  return { language: language ?? 'en', isFallback: language === undefined };
}
