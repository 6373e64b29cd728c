import { z } from 'zod';
import {
  cursor,
  defineTool,
  discoveryAnswer,
  discoveryShape,
  pageAfter,
  pageLimit,
  pageOf,
  pageShape,
  some,
  texts,
} from './coordinationAnswers.ts';

export const getDiscoveries = defineTool({
  name: 'get_discoveries',
  title: 'Discoveries',
  description: 'Lists shared findings, newest first.',
  input: z.strictObject({
    tags: texts('Those with any of these', 20, 100).optional(),
    limit: pageLimit('How many', 20, 500),
    cursor,
  }),
  output: z.object({ discoveries: z.array(discoveryShape), ...pageShape }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  example: { tags: ['auth'] },
  handler: async ({ services, workspace }, { tags = [], limit, cursor: encoded }) => {
    const page = pageAfter(encoded, limit);
    const found = await services.coordination.listDiscoveries(workspace, some([...new Set(tags)]), page);
    const { items, end } = pageOf(found, (discovery) => discovery.created_at, discoveryAnswer);
    return { discoveries: items, ...end };
  },
});
