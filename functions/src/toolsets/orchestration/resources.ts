/** Runs as resources: what MCP's own `subscriptions/listen` watches. */

import { z } from 'zod';
import { defineResourceTemplate, type ResourceTemplate } from '../../mcp/resource.ts';
import { runAnswer } from './tools/runAnswer.ts';
import { runId, runShape } from './tools/shapes.ts';

const run = defineResourceTemplate({
  uriTemplate: 'run://{runId}',
  name: 'run',
  title: 'Run',
  description: 'A run of yours: what get_run answers. It changes with every step.',
  mimeType: 'application/json',
  role: 'viewer',
  variables: z.object({ runId }),
  read: async ({ services, principal }, { runId: id }) => {
    const view = await services.orchestration.runs.view(principal, id);
    return JSON.stringify(runShape.parse(runAnswer(view, { cached: false, full: false })));
  },
  watch: ({ services, principal, gone }, { runId: id }) =>
    services.orchestration.runs.watch(principal, id, gone()),
});

export const templates: readonly ResourceTemplate[] = [run];
