/** The tools that introduce a new agent. Source: the network specification. */
import { z } from 'zod';
import { permissionError } from '../../../access/rules/permissionCheck.ts';
import { AGENT_TYPES } from '../../../agents/rules/agent.ts';
import { roleIn } from '../../../identity/rules/principal.ts';
import { idOf } from '../../../kernel/ids.ts';
import type { CallContext, Directory } from '../../../mcp/callContext.ts';
import { type Given, optionalFields, reading, textUpTo, toolsFor } from '../../../mcp/tool.ts';
import type { OnboardingServices } from '../create.ts';
import { type ChecklistItem, progressOf } from '../rules/onboarding.ts';
import { LANGUAGES, type ProposedCall } from '../rules/welcome.ts';

const defineTool = toolsFor<OnboardingServices>();
const callText = z.string().describe("A call to make: the tool's name, a space, and its arguments as JSON.");
const MAX_SPECIALIZATIONS = 20;
const step = optionalFields({ step: z.int(), title: z.string(), description: z.string(), action: callText });

const resources = optionalFields({
  documentation: z
    .array(z.string())
    .describe('Endpoints of this deployment (their tools/list documents every tool), and resources to read.'),
  tutorials: z.array(z.string()).describe('Calls that continue the introduction.'),
  contacts: z.array(z.string()).describe('Ids of agents that lead this workspace, or advice on whom to ask.'),
});

export const getWelcome = defineTool({
  name: 'getWelcome',
  title: 'Welcome',
  description: 'Introduces Muster: what it is, what your role can do here, and which calls come first.',
  details: `Available in ${LANGUAGES.join(', ')}. For other languages, the text is English, with a notice.`,
  input: z.strictObject({
    agentName: z.string().min(1).max(100).describe("The agent's name"),
    role: z.enum(AGENT_TYPES).describe("The agent's role"),
    specializations: z
      .array(textUpTo(100))
      .refine((list) => list.length <= MAX_SPECIALIZATIONS, `expected at most ${MAX_SPECIALIZATIONS}`)
      .optional()
      .describe('Its skills, to register as capabilities'),
    language: z.string().default('en').describe('ISO 639-1 code, or a tag such as pt-BR'),
  }),
  output: z.object({
    welcome: optionalFields({ message: z.string(), systemOverview: z.string(), roleDescription: z.string() }),
    quickStart: z.array(step),
    resources,
    language: z.enum(LANGUAGES).optional().describe('The language of these texts.'),
    notice: z.string().optional().describe('Present if the requested language is not available.'),
  }),
  ...reading,
  scope: 'anyone',
  example: { agentName: 'Ada', role: 'developer', specializations: ['typescript'], language: 'en' },
  handler: async (context, { agentName: name, specializations = [], ...input }) => {
    const { services, principal, workspace, directory, baseUrl } = context;
    const newcomer = { ...input, name, specializations, workspace };
    const { steps, elsewhere, askWhoInvitedYou, ...texts } = services.onboarding.welcome(principal, newcomer);
    const isIn = roleIn(principal, workspace) !== undefined;
    const contacts = isIn ? await services.onboarding.contacts(workspace) : [];
    const open = steps.filter(({ call }) => canCall(context, call.tool));
    const quickStart = open.map(({ title, description, call }, index) => {
      const isServed = directory.wireName(call.tool) !== undefined;
      const text = isServed ? description : `${description} ${elsewhere(baseUrl)}`;
      return { step: index + 1, title, description: text, action: writtenCall(directory, call) };
    });
    return {
      welcome: texts,
      quickStart,
      resources: {
        documentation: documentation(context),
        tutorials: tutorials(open.map(({ call }) => call)).map((call) => writtenCall(directory, call)),
        contacts: contacts.length > 0 ? contacts : [askWhoInvitedYou],
      },
      language: texts.language,
      notice: texts.notice,
    };
  },
});

/** Returns whether the caller may call the tool. The new agent's rights never exceed those of the caller. */
function canCall({ directory, principal, workspace }: CallContext<OnboardingServices>, fullName: string): boolean {
  const tool = directory.tools.find((known) => known.fullName === fullName);
  return tool !== undefined && permissionError(principal, workspace, { ...tool, what: fullName }) === undefined;
}

function documentation({ directory, baseUrl }: CallContext<OnboardingServices>): string[] {
  const toolsets = new Set(directory.tools.map(({ toolset }) => toolset));
  return [baseUrl, ...[...toolsets].map((toolset) => `${baseUrl}/${toolset}`), ...directory.resources];
}

/** Returns the calls that continue the introduction: the checklist, and the list of skills, which has examples. */
function tutorials(calls: readonly ProposedCall[]): readonly ProposedCall[] {
  const checklist = calls.filter(({ tool }) => tool === 'onboarding.getChecklist');
  return [...checklist, { tool: 'system.listSkills', args: {} }];
}

const itemShape = optionalFields({
  id: z.string(),
  category: z.string(),
  title: z.string(),
  description: z.string(),
  required: z.boolean(),
  completed: z.boolean(),
  completedAt: z.iso.datetime(),
  dependencies: z.array(z.string()).describe('Ids of items to complete first.'),
  resources: z
    .array(z.string())
    .describe('The call to make, as tool name, space and JSON arguments; then its endpoint.'),
});

export const getChecklist = defineTool({
  name: 'getChecklist',
  title: 'Onboarding checklist',
  description: "Returns an agent's onboarding checklist and the next call to make.",
  details:
    "The agent's activity checks off the items. Agents see their own checklist, people see those of their agents, and leaders and admins see all checklists.",
  input: z.strictObject({
    agentId: idOf('an agent').describe('Agent identifier'),
    includeCompleted: z.boolean().default(true).describe('Include completed'),
  }),
  output: z.object({
    checklist: z.array(itemShape),
    progress: optionalFields({
      completed: z.int(),
      total: z.int(),
      percentage: z.number().describe('Rounded down: 100 means that everything is done.'),
      requiredRemaining: z.int(),
    }).describe('Counts all items, including those not returned.'),
  }),
  ...reading,
  example: { agentId: 'terminal-2' },
  handler: async (context, { agentId, includeCompleted }) => {
    const items = await context.services.onboarding.checklist(context.principal, context.workspace, agentId);
    const shown = includeCompleted ? items : items.filter(({ completed }) => !completed);
    return { checklist: shown.map((item) => itemResponse(context, item)), progress: progressOf(items) };
  },
});

function itemResponse(
  { directory, baseUrl }: CallContext<OnboardingServices>,
  { call, ...item }: ChecklistItem,
): Given<z.output<typeof itemShape>> {
  const where = call === undefined ? 'onboarding' : call.tool.slice(0, call.tool.indexOf('.'));
  return { ...item, resources: [...(call ? [writtenCall(directory, call)] : []), `${baseUrl}/${where}`] };
}

/** Writes a call with the tool's name at the caller's endpoint, or with its full name if it is not served there. */
function writtenCall(directory: Directory, { tool, args }: ProposedCall): string {
  return `${directory.wireName(tool) ?? tool} ${JSON.stringify(args)}`;
}
