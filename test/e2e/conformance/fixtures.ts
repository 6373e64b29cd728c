/**
 * Tools, resources and prompts that some scenarios of the conformance suites require. Only the tests serve them, so they
 * cannot be deployed.
 */
import { z } from 'zod';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { promptsFor } from '../../../functions/src/mcp/prompt.ts';
import { templatesFor } from '../../../functions/src/mcp/resource.ts';
import { type Toolset, toolsFor } from '../../../functions/src/mcp/tool.ts';

const common = {
  input: z.strictObject({}),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer' as const,
  example: {},
};

const definePrompt = promptsFor<unknown>();

/** Prompts, with the names that the scenarios require. */
const prompts = [
  definePrompt('test_simple_prompt', {
    title: 'Simple prompt',
    description: 'A prompt without arguments.',
    text: ['This is a simple prompt for testing.'],
  }),
  definePrompt(
    'test_prompt_with_arguments',
    { title: 'Prompt with arguments', description: 'A prompt with two arguments.', text: ['Prompt with arguments:'] },
    { arg1: z.string(), arg2: z.string() },
    { arg1: async () => ['test', 'testing'] },
  ),
];

/** Clients see the tools as `test_simple_text` and `test_error_handling`. */
export const fixtures: Toolset = {
  name: 'test',
  instructions: 'For the conformance suites.',
  tools: [
    toolsFor<unknown>()({
      ...common,
      name: 'simple_text',
      title: 'Simple text',
      description: 'Answers with text.',
      output: z.object({ text: z.string() }),
      handler: async () => ({ text: 'This is a simple text response for testing.' }),
    }),
    toolsFor<unknown>()({
      ...common,
      name: 'error_handling',
      title: 'Error handling',
      description: 'Always fails.',
      output: z.object({}),
      handler: async () => {
        throw new MusterError('NOT_FOUND', 'This tool intentionally returns an error for testing.');
      },
    }),
  ],
  resources: [
    {
      uri: 'test://static-text',
      name: 'static-text',
      title: 'Static text',
      description: 'A text that never changes.',
      mimeType: 'text/plain',
      role: 'viewer',
      read: async () => 'This is the content of the static text resource.',
    },
  ],
  prompts,
  templates: [
    templatesFor<unknown>()({
      uriTemplate: 'test://template/{id}/data',
      name: 'template',
      title: 'Template',
      description: 'Returns the id from the URI.',
      mimeType: 'application/json',
      role: 'viewer',
      variables: z.strictObject({ id: z.string() }),
      read: async (_context, { id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    }),
  ],
};

/** Scenarios that pass if the endpoint serves the fixtures. */
export const FIXTURE_SCENARIOS = [
  'tools-call-simple-text',
  'tools-call-error',
  'resources-read-text',
  'resources-templates-read',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'completion-complete',
];

/** Scenarios of the tasks extension. The suite skips the scenario for notifications. */
export const TASK_SCENARIOS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
];
