import { z } from 'zod';
import { AGENT_TYPES, isReservedCapability } from '../../../agents/rules/agent.ts';
import type { Registered } from '../../../agents/rules/registration.ts';
import { WORKSPACE_FORM, WORKSPACE_NAME } from '../../../identity/rules/principal.ts';
import { ROLES } from '../../../identity/rules/role.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { isVisible } from '../../../kernel/hiddenCharacters.ts';
import { idLike } from '../../../kernel/ids.ts';
import { hasAtMost } from '../../../kernel/text.ts';
import { listedAs } from '../../../mcp/jsonSchema.ts';
import { clearArgument, clearedFields, optionalFields, toolsFor, writing } from '../../../mcp/tool.ts';
import type { OnboardingServices } from '../create.ts';

const MAX_CAPABILITIES = 100;

const word = (description: string) =>
  z
    .string()
    .refine((value) => isVisible(value) && hasAtMost(value, 100), 'expected 1 to 100 characters')
    .describe(description);

const retryPolicy = z.strictObject({
  maxRetries: count('Maximum').default(3),
  backoffMs: count('Milliseconds before retrying').default(1000),
});

const configuration = z.strictObject({
  maxConcurrentTasks: z.number().int().min(1).default(5).describe('Maximum tasks'),
  timeout: z.number().int().min(1000).default(30_000).describe('Call timeout in milliseconds'),
  retryPolicy: retryPolicy.optional().describe('Retry settings'),
});

function count(description: string) {
  return z
    .number()
    .int()
    .refine((value) => value >= 0, 'expected 0 or more')
    .describe(description);
}

const workspaceName = idLike(WORKSPACE_NAME, WORKSPACE_FORM);

const agentInfo = z.strictObject({
  name: z
    .string()
    .regex(/^[a-zA-Z0-9-_]+$/, 'expected letters, digits, "-" or "_"')
    .min(3)
    .max(50)
    .describe('3 to 50 letters, digits, - or _'),
  type: z.enum(AGENT_TYPES).describe('Primary role'),
  version: z
    .string()
    .regex(/^\d+\.\d+\.\d+$/, 'expected a version such as 1.0.0')
    .describe('Version, such as 1.0.0'),
  description: z.string().max(500).optional().describe('Purpose'),
  creator: word('Creator').optional(),
});

const capability = z.strictObject({
  name: word('Name in required_capabilities of tasks').refine(
    (name) => !isReservedCapability(name),
    'expected a name that does not begin with "muster:"',
  ),
  category: word('Group'),
  parameters: z.record(z.string(), listedAs({}, z.json())).optional().describe('More details'),
});

/** The network specification requires only some of these fields, but the handler always returns all. */
const output = z.object({
  agentId: z.string().describe('Unique agent identifier'),
  credentials: optionalFields({
    apiKey: z.string(),
    secret: z.string().describe('Shown once. The credential is "<apiKey>.<secret>".'),
    expiresAt: z.iso.datetime(),
  }),
  endpoints: optionalFields({
    messages: z.url().describe('Messages pushed to messages/agents/<agentId> in the Realtime Database.'),
    tasks: z.url().describe('Tasks that the agent holds, as in system.getTaskQueue.'),
    status: z.url().describe('System status, as in system.getSystemStatus.'),
  }).describe('Pages to read with GET and the credential; each returns JSON.'),
  registeredAt: z.iso.datetime().optional(),
});

/** The part of the response that may be stored for repeated calls: everything except the secret. */
const stored = z.object({
  agentId: z.string(),
  credentials: z.object({ apiKey: z.string(), expiresAt: z.string() }),
  endpoints: z.record(z.string(), z.string()),
  registeredAt: z.string(),
});

function registrationResponse(
  baseUrl: string,
  { agent, credential }: Omit<Registered, 'secret'>,
): z.output<typeof stored> {
  return {
    agentId: agent.id,
    credentials: { apiKey: credential.api_key, expiresAt: credential.expires_at.toISOString() },
    endpoints: {
      messages: `${baseUrl}/agent/messages`,
      tasks: `${baseUrl}/agent/tasks`,
      status: `${baseUrl}/agent/status`,
    },
    registeredAt: agent.registered_at.toISOString(),
  };
}

const defineTool = toolsFor<OnboardingServices>();

export const registerAgent = defineTool({
  name: 'registerAgent',
  title: 'Register an agent',
  description: 'Creates an agent and returns its credential. Reusing a name replaces its profile and credential.',
  details:
    'If an owner registers the same name again, it is the same agent, and its old credential stops working. `workspace` is the default for calls that name no workspace. `toolsets`, `heldTo` and `readonly` restrict the new credential; if omitted, they keep their previous values. Only a person can lift these restrictions, with clear.',
  rare: [
    'clear',
    'configuration',
    'creator',
    'description',
    'heldTo',
    'parameters',
    'readonly',
    'toolsets',
    'workspace',
  ],
  input: z.strictObject({
    agentInfo: agentInfo.describe('The agent'),
    capabilities: z
      .array(capability)
      .min(1)
      .refine((list) => list.length <= MAX_CAPABILITIES, `expected at most ${MAX_CAPABILITIES} capabilities`)
      .describe('Its capabilities'),
    configuration: configuration.optional().describe('Its settings'),
    role: z.enum(ROLES).optional().describe('Default worker; at most yours'),
    workspace: workspaceName.optional().describe('Its home workspace'),
    toolsets: z.array(z.string()).min(1).optional().describe('Only these'),
    heldTo: workspaceName.optional().describe('Sole workspace'),
    readonly: z.boolean().optional().describe('Read-only'),
    clear: clearArgument('toolsets', 'heldTo'),
  }),
  output,
  ...writing('worker', { destructiveHint: true, idempotentHint: false }, ['agent']),
  example: {
    agentInfo: { name: 'research-agent', type: 'researcher', version: '1.0.0', description: 'Reads papers' },
    capabilities: [{ name: 'research', category: 'analysis' }],
    configuration: { maxConcurrentTasks: 2 },
  },
  handler: async ({ services, principal, workspace, operation, baseUrl }, input) => {
    const { maxConcurrentTasks, timeout, retryPolicy: retries } = configuration.parse(input.configuration ?? {});
    const { maxRetries, backoffMs } = retryPolicy.parse(retries ?? {});
    const limit = clearedFields(input.clear);
    const draft = {
      ...input.agentInfo,
      capability_details: input.capabilities.map(({ name, category, parameters }) => ({
        name,
        category,
        ...(parameters && { parameters }),
      })),
      configuration: {
        max_concurrent_tasks: maxConcurrentTasks,
        timeout,
        retry_policy: { max_retries: maxRetries, backoff_ms: backoffMs },
      },
      role: input.role,
      workspace: input.workspace,
      limits: {
        toolsets: limit('toolsets', input.toolsets),
        held_to: limit('heldTo', input.heldTo),
        readonly: input.readonly,
      },
    };
    const registered = await services.registration.register({ principal, workspace }, draft, operation, (outcome) =>
      operation.recordResponse(registrationResponse(baseUrl, outcome)),
    );
    const { credentials, ...rest } = registrationResponse(baseUrl, registered);
    return { ...rest, credentials: { ...credentials, secret: registered.secret } };
  },
  replay: async ({ services, operation }, _, kept) => {
    const { credentials, ...rest } = stored.parse(kept);
    const secret = await services.registration.secretOf(credentials.apiKey, rest.agentId, operation);
    if (secret === undefined) {
      const message = 'The agent is registered, but its secret cannot be shown again.';
      const suggestion =
        'To replace its credential, register the agent again without idempotency_key, or with a new idempotency_key.';
      throw new MusterError('GONE', message, { field: 'idempotency_key', suggestion });
    }
    return { ...rest, credentials: { ...credentials, secret } };
  },
});
